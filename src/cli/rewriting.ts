// What the commands that rewrite personal data share: the database, and words for what was rewritten.

import type { PersonalDataSettings } from '../config/personal-data.ts';
import { counted } from '../contract/format.ts';
import { isLackOfRights } from '../db/as-database-error.ts';
import { checkSchema } from '../db/check-schema.ts';
import type { Database } from '../db/database.ts';
import { AccessRefused } from '../errors.ts';
import { makeLogger } from '../log.ts';
import type { RowCounts } from '../personal-data/rewriting.ts';
import type { Cli } from './cli.ts';
import { readCliConfig } from './configuration.ts';
import { type Lifetime, Stopped } from './lifetime.ts';
import { type DatabaseCommand, openDatabase } from './open-database.ts';

const ONLY_OWNER =
  'only the owner of the tables can rewrite them: run this as the role that runs affiliate-mirror migrate';

export interface Rewriting {
  readonly db: Database;
  readonly settings: PersonalDataSettings;
}

/**
 * Returns the database, with the schema up to date, and the settings. Closed with the lifetime.
 *
 * Throws: AccessRefused where the role does not own the tables.
 */
export async function openRewriting(
  cli: Cli,
  lifetime: Lifetime,
  command: DatabaseCommand,
): Promise<Rewriting> {
  const config = readCliConfig(cli);
  const log = makeLogger(config.logLevel);
  const { pool, db } = await openDatabase({ log, lifetime }, config, command, { endsAtOnce: true });
  await checkSchema(pool, { schema: config.mirrorSchema });
  // Of vacuum, which frees what was rewritten, another role is only warned.
  const { rowCount } = await pool.query(
    `select from pg_class where oid = 'affiliates'::regclass and pg_has_role(relowner, 'USAGE')`,
  );
  if (rowCount === 0) throw new AccessRefused(ONLY_OWNER);
  return { db, settings: config.personalData };
}

/**
 * Returns what `work` returns.
 *
 * Throws: AccessRefused where the role lacks a right; Stopped, which says what is left to do.
 */
export async function rewrite<T>({ signal }: Lifetime, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.reason instanceof Stopped) {
      throw signal.reason.saying('not all of it may be done: run the same command again');
    }
    if (!isLackOfRights(error)) throw error;
    throw new AccessRefused(ONLY_OWNER, { cause: error });
  }
}

/** Returns the rows that were rewritten, as the documents have them. */
export function rewrittenRows(counts: RowCounts): { table: string; rows: number }[] {
  return [...counts].map(([table, rows]) => ({ table, rows }));
}

/** Returns a line for each table. */
export function describeRewritten(rewritten: readonly { table: string; rows: number }[]): string[] {
  return rewritten.map(({ table, rows }) => `  ${table}: ${counted(rows, 'row')}`);
}
