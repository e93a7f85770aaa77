// Applies files of the migrations within the transaction of `migrate`; an error names the file.

import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { errorCode } from '../../base/describe-error.ts';
import { MigrationFailed } from '../../base/errors.ts';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { type MigrationFile, REPORTS, VERSION } from './migration-files.ts';

/** `create or replace view` adds columns at the end, and refuses any other change of them. */
const INVALID_TABLE_DEFINITION = '42P16';
const DEPENDENT_OBJECTS = '2BP01';

/** Returns the quoted name of the table of applied migrations: a schema may have the name of a word of SQL. */
export function migrationsTable(schema: string): string {
  return `${escapeIdentifier(schema)}.schema_migrations`;
}

export interface Applicable {
  readonly files: readonly MigrationFile[];
  readonly due: readonly MigrationFile[];
  /** The views of the reports, which hold no data, are missing. */
  readonly hasLostReports: boolean;
}

/**
 * Applies the due files, and records them. After a numbered file, all functions and views are made again, because a
 * report copies the comments of its table.
 *
 * Throws: MigrationFailed if a file fails, or if a view's columns change and views of users depend on it.
 */
export async function applyFiles(
  client: PoolClient,
  schema: string,
  { files, due, hasLostReports }: Applicable,
): Promise<void> {
  const apply = async (applied: readonly MigrationFile[]) => {
    for (const { name, sql } of applied) {
      await client.query(inSchema(sql, schema)).catch((cause: unknown) => {
        throw new MigrationFailed(`${name} failed; nothing was changed`, { cause });
      });
    }
  };
  // Functions keep this path. pg_temp is last, so that a caller's temporary table never replaces one of ours.
  await client.query(`set local search_path to ${escapeIdentifier(schema)}, pg_temp`);
  const numbered = due.filter(({ isRepeated }) => !isRepeated);
  await apply(numbered);
  const repeated = files.filter(({ isRepeated }) => isRepeated);
  await client.query('savepoint replaced');
  try {
    await apply(numbered.length > 0 || hasLostReports ? repeated : due);
  } catch (error) {
    if (!(error instanceof MigrationFailed) || errorCode(error.cause) !== INVALID_TABLE_DEFINITION)
      throw error;
    await client.query('rollback to savepoint replaced');
    const grants = await dropViews(client, schema, repeated);
    await apply(repeated);
    for (const grant of grants) await client.query(grant);
  }
  await client.query(
    `insert into ${migrationsTable(schema)} (name, sha256, version)
     select name, sha256, $3 from unnest($1::text[], $2::text[]) as applied (name, sha256)
     on conflict (name) do update set sha256 = excluded.sha256, version = excluded.version, applied_at = default`,
    [due.map(({ name }) => name), due.map(({ sha256 }) => sha256), VERSION],
  );
}

function inSchema(sql: string, schema: string): string {
  return sql.replaceAll(REPORTS, escapeIdentifier(reportsSchema(schema)));
}

/** Drops the views that the files make, and returns the statements that repeat their grants. */
async function dropViews(
  client: PoolClient,
  schema: string,
  files: readonly MigrationFile[],
): Promise<readonly string[]> {
  const made = files.flatMap(({ sql }) => [...sql.matchAll(/^create or replace view (\S+)/gm)]);
  const views = made.map(([, view = '']) => inSchema(view, schema));
  const { rows } = await client.query<{ statement: string }>(
    `select format('grant %s on %s to %s%s', privilege_type, view,
         case grantee when 0 then 'public' else grantee::regrole::text end,
         case when is_grantable then ' with grant option' end) as statement
     from unnest($1::text[]) as made (view) join pg_class on pg_class.oid = to_regclass(view), aclexplode(relacl)
     where grantee <> relowner`,
    [views],
  );
  await client.query(`drop view if exists ${views.join(', ')}`).catch((error: unknown) => {
    if (!(error instanceof DatabaseError) || error.code !== DEPENDENT_OBJECTS) throw error;
    throw new MigrationFailed(
      `this version changes columns of its views, and users' views depend on them (${error.detail?.replaceAll('\n', '; ')}): drop those, run affiliate-mirror migrate, and make them again; nothing was changed`,
    );
  });
  return rows.map(({ statement }) => statement);
}
