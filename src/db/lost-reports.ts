// The views of the reports are in a schema of their own, which a backup of the mirror's schema alone leaves out: the
// migrations that made them then count as applied. The views hold no data, so `migrate` applies those files once more,
// all in one transaction. So each other statement of such a file must be harmless when it is run twice.

import type { PoolClient } from 'pg';
import { SchemaMismatch } from '../errors.ts';
import { type MigrationFile, REPORTS } from './migration-files.ts';
import { reportsSchema } from './sibling-schema.ts';

/** Returns the applied migrations that made views of the reports, where none of the views is there; else none. */
export async function findLostReports(
  client: Pick<PoolClient, 'query'>,
  schema: string,
  files: readonly MigrationFile[],
  done: readonly Pick<MigrationFile, 'name'>[],
): Promise<readonly MigrationFile[]> {
  const applied = new Set(done.map(({ name }) => name));
  const made = files.filter(({ name, sql }) => applied.has(name) && sql.includes(REPORTS));
  if (made.length === 0) return [];
  const views = await client.query(
    `select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relkind = 'v' limit 1`,
    [reportsSchema(schema)],
  );
  return views.rowCount === 0 ? made : [];
}

/** Throws: SchemaMismatch where an applied migration made views of the reports, and none is there. */
export async function refuseLostReports(...mirror: Parameters<typeof findLostReports>): Promise<void> {
  if ((await findLostReports(...mirror)).length === 0) return;
  const [, schema] = mirror;
  const reports = reportsSchema(schema);
  throw new SchemaMismatch(
    `the schema ${reports}, which goes with ${schema}, is missing or empty: run affiliate-mirror migrate, which makes its views again`,
  );
}
