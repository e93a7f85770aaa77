// Brings the mirror's schema up to date in one transaction, unless files and database disagree.

import { escapeIdentifier, type PoolClient, type QueryResultRow } from 'pg';
import { errorCode } from '../../base/describe-error.ts';
import {
  AccessRefused,
  ConfigError,
  MigrationFailed,
  SchemaMismatch,
  SchemaNewer,
} from '../../base/errors.ts';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { withClientUntil } from '../connect/client-until.ts';
import type { Pool } from '../connect/shared-pool.ts';
import { isLackOfRights } from '../database-errors.ts';
import { RELATIONS } from '../relations.ts';
import { type Applicable, applyFiles, migrationsTable } from './apply-files.ts';
import { hasReports } from './check-parts.ts';
import {
  type AppliedMigration,
  findDisagreement,
  lacking,
  MIGRATIONS_DIRECTORY,
  type MigrationFile,
  readMigrationFiles,
} from './migration-files.ts';

export interface MigrationTarget {
  /** The schema that the pool works in. */
  readonly schema: string;
  /** The directory of the files; affiliate-mirror's own if left out. */
  readonly directory?: string;
}

/** A pool, a connection, or a transaction (asClient). */
export interface Asked {
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

const NEVER = new AbortController().signal;

/** SQLSTATE. */
const DEADLOCK = '40P01';
const MOST_TRIES = 3;

export interface Migrated {
  readonly applied: readonly string[];
  /** Whether the views of the reports were missing, and were made again. */
  readonly hasRemadeReports: boolean;
}

/**
 * Applies missing migrations, and changed functions and views again, in one transaction. Creates the schema, and that
 * of the reports, if there is none. Makes missing views of the reports again. Idempotent: yes, also for several
 * processes at once: one works, and the others wait.
 *
 * Throws: MigrationFailed if a file fails, was edited since it was applied, or is missing here although the database
 * has it; ConfigError if the schema has foreign tables with our names; the signal's reason when aborted. Nothing is
 * changed then.
 */
export async function runMigrations(
  pool: Pool,
  { schema, directory = MIGRATIONS_DIRECTORY, signal = NEVER }: MigrationTarget & { signal?: AbortSignal },
): Promise<Migrated> {
  const files = await readMigrationFiles(directory);
  const migrate = async (client: PoolClient) => {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `affiliate-mirror migrations of ${schema}`,
    ]);
    const planned = await plan(client, schema, files);
    await ensureSchema(client, schema);
    await ensureSchema(client, reportsSchema(schema));
    await createMigrationsTable(client, schema);
    await applyFiles(client, schema, planned);
    await client.query('commit');
    return describe(planned);
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withClientUntil(pool, signal, migrate);
    } catch (error) {
      // Running workers lock the same tables and views in another order.
      const isDeadlock = error instanceof MigrationFailed && errorCode(error.cause) === DEADLOCK;
      if (attempt === MOST_TRIES || !isDeadlock) throw error;
    }
  }
}

/**
 * Returns what `runMigrations` would do now. Changes nothing.
 *
 * Throws: MigrationFailed if a file was edited since it was applied, or is missing here although the database has it;
 * ConfigError if the schema has foreign tables with our names.
 */
export async function listPending(
  pool: Pool,
  { schema, directory = MIGRATIONS_DIRECTORY }: MigrationTarget,
): Promise<Migrated> {
  return describe(await plan(pool, schema, await readMigrationFiles(directory)));
}

async function plan(
  client: Pick<PoolClient, 'query'>,
  schema: string,
  files: readonly MigrationFile[],
): Promise<Applicable> {
  const done = await readApplied(client, schema);
  if (done.length === 0) await refuseForeignTables(client, schema);
  const disagreement = findDisagreement(files, done);
  if (disagreement !== null) throw new MigrationFailed(disagreement.reason);
  const due = lacking(files, done);
  const hasLostReports =
    done.some(({ name }) => name.startsWith('reports/')) && !(await hasReports(client, schema));
  return { files, due, hasLostReports };
}

function describe({ due, hasLostReports }: Applicable): Migrated {
  return { applied: due.map(({ name }) => name), hasRemadeReports: hasLostReports };
}

/**
 * Throws: ConfigError if a schema without migrations has tables or views with our names. Another program may have
 * tables such as affiliates.
 */
async function refuseForeignTables(client: Pick<PoolClient, 'query'>, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string; found_in: string }>(
    `select relname as name, nspname as found_in from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = any ($1) and relname = any ($2)
     order by 1`,
    [[schema, reportsSchema(schema)], RELATIONS],
  );
  const [first] = rows;
  if (first === undefined) return;
  const names = rows.map(({ name }) => name).join(', ');
  throw new ConfigError([
    `the schema ${first.found_in} has tables of something else under names that the mirror needs (${names}): set MIRROR_SCHEMA to the name of a schema for the mirror alone`,
  ]);
}

/** Returns the applied migrations, in order; empty if the schema has no such table yet. */
async function readApplied(client: Asked, schema: string): Promise<readonly AppliedMigration[]> {
  const table = migrationsTable(schema);
  // Other programs have a table with this name as well: only ours has fingerprints.
  const found = await client.query(
    `select from pg_attribute where attrelid = to_regclass($1) and attname = 'sha256' and not attisdropped`,
    [table],
  );
  if (found.rows.length === 0) return [];
  const answer = await client.query<AppliedMigration>(
    `select name, sha256, version from ${table} order by name`,
  );
  return answer.rows;
}

async function createMigrationsTable(client: PoolClient, schema: string): Promise<void> {
  const table = migrationsTable(schema);
  await client.query(`
    create table if not exists ${table} (
      name       text primary key,
      sha256     text not null,
      version    text not null default '',
      applied_at timestamptz not null default clock_timestamp()
    );
    comment on table ${table} is 'The migrations that made this schema. Nothing for analysis.';
    comment on column ${table}.name is 'File name of the migration.';
    comment on column ${table}.sha256 is 'Fingerprint of the file when it was last applied. A numbered file is applied once, and must not be edited afterwards.';
    comment on column ${table}.version is 'The version of affiliate-mirror that last applied it.';
    comment on column ${table}.applied_at is 'When it was last applied, new or changed.'`);
}

async function ensureSchema(client: PoolClient, schema: string): Promise<void> {
  const found = await client.query(`select from pg_namespace where nspname = $1`, [schema]);
  // "if not exists" would need the right to create schemas even for an existing one.
  if (found.rowCount !== 0) return;
  await client.query(`create schema ${escapeIdentifier(schema)}`).catch((error: unknown) => {
    throw isLackOfRights(error) ? mayNotCreateSchema(schema, error) : error;
  });
}

export function mayNotCreateSchema(schema: string, cause: unknown): AccessRefused {
  return new AccessRefused(
    `this role may not make the schema ${schema}: have a DBA run "create schema ${schema} authorization" with its name, or "grant create on database" to it`,
    { cause },
  );
}

/**
 * Checks that exactly the migrations of this version are applied. Every command calls it first, and a worker
 * repeatedly; `doctor` and `migrate` find the losses of a restore (check-parts.ts). Changes nothing.
 *
 * Throws: SchemaMismatch if the schema has no tables, is older or newer, or was made by edited migrations.
 */
export async function checkSchema(
  client: Asked,
  { schema, directory = MIGRATIONS_DIRECTORY }: MigrationTarget,
): Promise<void> {
  const [files, done] = await Promise.all([readMigrationFiles(directory), readApplied(client, schema)]);
  if (done.length === 0) {
    throw new SchemaMismatch(`the schema ${schema} has no tables yet: run affiliate-mirror migrate`);
  }
  const disagreement = findDisagreement(files, done);
  if (disagreement !== null) {
    const { reason, isNewer } = disagreement;
    throw new (isNewer ? SchemaNewer : SchemaMismatch)(`the schema ${schema}: ${reason}`);
  }
  const [first] = lacking(files, done);
  if (first !== undefined) {
    throw new SchemaMismatch(
      `the schema ${schema} is older than this version (it lacks ${first.name}): run affiliate-mirror migrate`,
    );
  }
}
