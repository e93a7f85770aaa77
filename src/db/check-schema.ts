// Checks that the mirror's schema is the one that this version was written for. Changes nothing. Every command calls it
// first, and a worker again and again. What a restore lost is found by `doctor` and `migrate` (check-parts.ts).

import type { Pool } from 'pg';
import { SchemaMismatch } from '../errors.ts';
import { type MigrationTarget, readApplied } from './migrate.ts';
import { MIGRATIONS_DIRECTORY, readMigrationFiles, sayEdited } from './migration-files.ts';

/**
 * Resolves where every migration of this version is applied and no other.
 *
 * Throws: SchemaMismatch where the schema has no tables, is older, newer, or was made by edited migrations.
 */
export async function checkSchema(
  pool: Pool,
  { schema, directory = MIGRATIONS_DIRECTORY }: MigrationTarget,
): Promise<void> {
  const [files, done] = await Promise.all([readMigrationFiles(directory), readApplied(pool, schema)]);
  if (done.length === 0) {
    throw new SchemaMismatch(`the schema ${schema} has no tables yet: run affiliate-mirror migrate`);
  }
  const here = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const newer = done.find(({ name }) => !here.has(name));
  if (newer !== undefined) {
    throw new SchemaMismatch(
      `the schema ${schema} is newer than this version (it has ${newer.name}): update affiliate-mirror`,
    );
  }
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
}
