// Brings the mirror's schema up to date, file by file, and refuses where files and database disagree.

import { escapeIdentifier, type Pool, type PoolClient } from 'pg';
import { AccessRefused, MigrationFailed } from '../errors.ts';
import { applyFiles, migrationsTable } from './apply-files.ts';
import { isLackOfRights } from './as-database-error.ts';
import { hasReports } from './check-parts.ts';
import { withClientUntil } from './client-until.ts';
import { advanceIdentities, findIdentitiesBehind } from './identities.ts';
import {
  type AppliedMigration,
  findDisagreement,
  lacking,
  MIGRATIONS_DIRECTORY,
  type MigrationFile,
  REPORTS,
  readMigrationFiles,
} from './migration-files.ts';
import { refuseForeignTables } from './refuse-foreign-tables.ts';
import { reportsSchema } from './sibling-schema.ts';

export interface MigrationTarget {
  /** The schema that the pool works in. */
  readonly schema: string;
  /** Where the files are; those of affiliate-mirror if left out. */
  readonly directory?: string;
}

const NEVER = new AbortController().signal;

/** What was done, or would be; each is in the order of its names. */
export interface Migrated {
  readonly applied: readonly string[];
  /** Identity columns, with their tables, that gave new rows numbers which other rows had. */
  readonly advanced: readonly string[];
  /** Whether the views of the reports were lost, and were made again. */
  readonly hasRemadeReports: boolean;
}

/**
 * Applies the migrations that the schema lacks, each in its own transaction, and returns their names. Where its
 * identities are behind its rows, as after a move by logical replication, lets them go on behind the last. Where the
 * views of the reports are lost, makes them again.
 * Creates the schema, and that of the reports beside it, where there is none. Idempotent: yes, and safe for several
 * processes at once (one works, the others wait and then find nothing to do).
 *
 * Throws: MigrationFailed where a file fails (nothing of it remains), was edited since it was applied, or is missing
 * here although the database has it; ConfigError where something else has tables of our names in the schema; the
 * signal's reason when aborted, and then nothing remains of the file that was being applied.
 */
export async function runMigrations(
  pool: Pool,
  { schema, directory = MIGRATIONS_DIRECTORY, signal = NEVER }: MigrationTarget & { signal?: AbortSignal },
): Promise<Migrated> {
  const files = await readMigrationFiles(directory);
  return withClientUntil(pool, signal, async (client) => {
    await takeLock(client, schema);
    const done = await readApplied(client, schema);
    if (done.length === 0) await refuseForeignTables(client, schema);
    refuseDisagreement(files, done);
    const lost = await findLostReports(client, schema, files, done);
    await createMigrationsTable(client, schema);
    await ensureSchema(client, reportsSchema(schema));
    if (lost.length > 0) await applyFiles(client, schema, lost, { isNew: false });
    const applied: string[] = [];
    for (const file of lacking(files, done)) {
      await applyFiles(client, schema, [file], { isNew: true });
      applied.push(file.name);
    }
    const behind = await findIdentitiesBehind(client, schema);
    await advanceIdentities(client, behind);
    await releaseLock(client, schema);
    return {
      applied,
      advanced: namesOf(behind),
      hasRemadeReports: lost.length > 0,
    };
  });
}

/**
 * Returns what `runMigrations` would do now. Changes nothing.
 *
 * Throws: MigrationFailed where one was edited since it was applied, or is missing here although the database has it;
 * ConfigError where something else has tables of our names in the schema.
 */
export async function listPending(
  pool: Pool,
  { schema, directory = MIGRATIONS_DIRECTORY }: MigrationTarget,
): Promise<Migrated> {
  const [files, done] = await Promise.all([readMigrationFiles(directory), readApplied(pool, schema)]);
  if (done.length === 0) await refuseForeignTables(pool, schema);
  refuseDisagreement(files, done);
  const lost = await findLostReports(pool, schema, files, done);
  return {
    applied: namesOf(lacking(files, done)),
    advanced: namesOf(await findIdentitiesBehind(pool, schema)),
    hasRemadeReports: lost.length > 0,
  };
}

function namesOf(items: readonly { readonly name: string }[]): readonly string[] {
  return items.map(({ name }) => name);
}

/**
 * Returns the applied migrations that made views of the reports, where none of the views is there; else none. The views
 * hold no data, so `migrate` applies those files once more, all in one transaction. So each other statement of such a
 * file must be harmless when it is run twice.
 */
async function findLostReports(
  client: Pick<PoolClient, 'query'>,
  schema: string,
  files: readonly MigrationFile[],
  done: readonly AppliedMigration[],
): Promise<readonly MigrationFile[]> {
  const applied = new Set(done.map(({ name }) => name));
  const made = files.filter(({ name, sql }) => applied.has(name) && sql.includes(REPORTS));
  return made.length === 0 || (await hasReports(client, schema)) ? [] : made;
}

/** Returns the migrations that the schema records as applied, in order; empty where it has no such table yet. */
export async function readApplied(
  client: Pick<PoolClient, 'query'>,
  schema: string,
): Promise<readonly AppliedMigration[]> {
  const table = migrationsTable(schema);
  // Other programs have a table of that name as well: the fingerprints are ours.
  const found = await client.query(
    `select from pg_attribute where attrelid = to_regclass($1) and attname = 'sha256' and not attisdropped`,
    [table],
  );
  if (found.rowCount === 0) return [];
  const answer = await client.query<AppliedMigration>(`select name, sha256 from ${table} order by name`);
  return answer.rows;
}

// A lock of the session, since each file has a transaction of its own; Postgres drops it with the connection. Not
// `withSessionLock`: its name needs the schema, which may not be there yet. All work goes over the connection that
// holds the lock, so that a process which lost it can write nothing more.
async function takeLock(client: PoolClient, schema: string): Promise<void> {
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [lockName(schema)]);
}

async function releaseLock(client: PoolClient, schema: string): Promise<void> {
  await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [lockName(schema)]);
}

function lockName(schema: string): string {
  return `affiliate-mirror migrations of ${schema}`;
}

async function createMigrationsTable(client: PoolClient, schema: string): Promise<void> {
  await ensureSchema(client, schema);
  const table = migrationsTable(schema);
  await client.query(`
    begin;
    set local client_min_messages to warning;
    create table if not exists ${table} (
      name       text primary key,
      sha256     text not null,
      applied_at timestamptz not null default clock_timestamp()
    );
    comment on table ${table} is 'Which migrations made this schema. Nothing for analysis.';
    comment on column ${table}.name is 'File name of the migration.';
    comment on column ${table}.sha256 is 'Fingerprint of the file when it was applied: an applied file must never be edited.';
    comment on column ${table}.applied_at is 'When it was applied.';
    commit`);
}

async function ensureSchema(client: PoolClient, schema: string): Promise<void> {
  const found = await client.query(`select from pg_namespace where nspname = $1`, [schema]);
  // "if not exists" would still ask for the right to create schemas, which a prepared schema makes needless.
  if (found.rowCount === 0) await createSchema(client, schema);
}

async function createSchema(client: PoolClient, schema: string): Promise<void> {
  try {
    await client.query(`create schema ${escapeIdentifier(schema)}`);
  } catch (error) {
    throw isLackOfRights(error) ? mayNotCreateSchema(schema, error) : error;
  }
}

/** Returns what is wrong where the role may not make a schema, and what a DBA can do about it. */
export function mayNotCreateSchema(schema: string, cause: unknown): AccessRefused {
  return new AccessRefused(
    `this role may not make the schema ${schema}: have a DBA run "create schema ${schema} authorization" with its name, or "grant create on database" to it`,
    { cause },
  );
}

function refuseDisagreement(files: readonly MigrationFile[], done: readonly AppliedMigration[]): void {
  const disagreement = findDisagreement(files, done);
  if (disagreement !== null) throw new MigrationFailed(disagreement);
}
