// The views of the reports are in a schema of their own, which a backup of the mirror's schema alone leaves out: the
// migrations that made them then count as applied. They are not made anew here: what else those files did is still
// there, and views of an older version would need the later files too.

import type { PoolClient } from 'pg';
import { SchemaMismatch } from '../errors.ts';
import { type MigrationFile, REPORTS } from './migration-files.ts';
import { reportsSchema } from './sibling-schema.ts';

/** Throws: SchemaMismatch where an applied migration made views of the reports, and none is there. */
export async function refuseLostReports(
  client: Pick<PoolClient, 'query'>,
  schema: string,
  files: readonly MigrationFile[],
  done: readonly Pick<MigrationFile, 'name'>[],
): Promise<void> {
  const applied = new Set(done.map(({ name }) => name));
  if (!files.some(({ name, sql }) => applied.has(name) && sql.includes(REPORTS))) return;
  const reports = reportsSchema(schema);
  const views = await client.query(
    `select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relkind = 'v' limit 1`,
    [reports],
  );
  if (views.rowCount !== 0) return;
  throw new SchemaMismatch(
    `the schema ${reports}, which goes with ${schema}, is missing or empty: restore both from the same backup; where that lacks ${reports}, from a dump of it in a database that this version has just migrated`,
  );
}
