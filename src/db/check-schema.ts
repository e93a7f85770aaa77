// Checks that the mirror's schema is the one that this version was written for. Changes nothing.

import type { Pool } from 'pg';
import { SchemaMismatch } from '../errors.ts';
import { refuseLostReports } from './lost-reports.ts';
import { type AppliedMigration, type MigrationTarget, readApplied } from './migrate.ts';
import {
  MIGRATIONS_DIRECTORY,
  type MigrationFile,
  readMigrationFiles,
  sayEdited,
} from './migration-files.ts';
import { refuseAstrayFunctions } from './pinned-functions.ts';
import { refuseLostGuards } from './refuse-lost-guards.ts';

/**
 * Resolves where the schema has no migration that this version does not know: a worker that runs must not go on once a
 * newer version has migrated the tables.
 *
 * Throws: SchemaMismatch.
 */
export async function refuseNewerSchema(
  pool: Pool,
  { schema, directory = MIGRATIONS_DIRECTORY }: MigrationTarget,
): Promise<void> {
  const [files, done] = await Promise.all([readMigrationFiles(directory), readApplied(pool, schema)]);
  refuseUnknown(schema, files, done);
}

function refuseUnknown(
  schema: string,
  files: readonly MigrationFile[],
  done: readonly AppliedMigration[],
): void {
  const here = new Set(files.map(({ name }) => name));
  const newer = done.find(({ name }) => !here.has(name));
  if (newer === undefined) return;
  throw new SchemaMismatch(
    `the schema ${schema} is newer than this version (it has ${newer.name}): update affiliate-mirror`,
  );
}

/**
 * Resolves where every migration of this version is applied and no other.
 *
 * Throws: SchemaMismatch where the schema has no tables, is older, newer, or was made by edited migrations, where the
 * views of its reports, its triggers or its keys are lost, or where its functions work on another schema.
 */
export async function checkSchema(
  pool: Pool,
  { schema, directory = MIGRATIONS_DIRECTORY }: MigrationTarget,
): Promise<void> {
  const [files, done] = await Promise.all([readMigrationFiles(directory), readApplied(pool, schema)]);
  if (done.length === 0) {
    throw new SchemaMismatch(`the schema ${schema} has no tables yet: run affiliate-mirror migrate`);
  }
  refuseUnknown(schema, files, done);
  const here = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const applied = new Set(done.map(({ name }) => name));
  const lacking = files.find(({ name }) => !applied.has(name));
  if (lacking !== undefined) {
    throw new SchemaMismatch(
      `the schema ${schema} is older than this version (it lacks ${lacking.name}): run affiliate-mirror migrate`,
    );
  }
  const edited = done.find(({ name, sha256 }) => here.get(name) !== sha256);
  if (edited !== undefined) {
    throw new SchemaMismatch(`the schema ${schema} does not fit this version: ${sayEdited(edited.name)}`);
  }
  await refuseLostReports(pool, schema, files, done);
  await refuseAstrayFunctions(pool, schema);
  await refuseLostGuards(pool, schema);
}
