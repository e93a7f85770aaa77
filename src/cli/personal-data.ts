// The commands that rewrite personal data: `personal-data switch` and `forget`.

import { z } from 'zod';
import { AccessRefused } from '../base/errors.ts';
import { counted } from '../contract/format.ts';
import type { RowCounts } from '../mirror/people/rewriting.ts';
import { count, text } from '../reports/fields.ts';
import type { Cli } from './cli.ts';
import { type Lifetime, Stopped } from './lifetime.ts';
import { openMirror, type Program } from './program.ts';

/** As the documents have it. */
export const rewritten = z
  .array(z.object({ table: text('name of the table'), rows: count('how many of its rows were rewritten') }))
  .readonly()
  .describe('tables of which something was rewritten');

/** Returns the program. Closed with the lifetime. Throws: AccessRefused if the role does not own the tables. */
export async function openRewriting(cli: Cli, lifetime: Lifetime): Promise<Program> {
  const program = await openMirror(cli, lifetime, { endsAtOnce: true });
  // Vacuum, which frees the space of rewritten rows, only warns another role.
  const { rowCount } = await program.pool.query(
    `select from pg_class where oid = 'affiliates'::regclass and pg_has_role(relowner, 'USAGE')`,
  );
  if (rowCount === 0) {
    throw new AccessRefused(
      'only the owner of the tables can rewrite them: run this as the role that runs affiliate-mirror migrate',
    );
  }
  return program;
}

/**
 * Returns what `work` returns.
 *
 * Throws: Stopped, with how to go on.
 */
export async function rewrite<T>({ signal }: Lifetime, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.reason instanceof Stopped) {
      throw signal.reason.saying('not all of it may be done: run the same command again');
    }
    throw error;
  }
}

/** Returns the rows that were rewritten, as the documents have them. */
export function rewrittenRows(counts: RowCounts): { table: string; rows: number }[] {
  return [...counts].map(([table, rows]) => ({ table, rows }));
}

/** Returns a line for each table. */
export function describeRewritten(tables: readonly { table: string; rows: number }[]): string[] {
  return tables.map(({ table, rows }) => `  ${table}: ${counted(rows, 'row')}`);
}
