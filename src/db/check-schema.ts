// Checks that the mirror's schema is the one that this version was written for. Changes nothing. Every command calls it
// first, and a worker again and again. What a restore lost is found by `doctor` and `migrate` (check-parts.ts).

import type { Pool } from 'pg';
import { SchemaMismatch } from '../errors.ts';
import { type MigrationTarget, readApplied } from './migrate.ts';
import { findDisagreement, lacking, MIGRATIONS_DIRECTORY, readMigrationFiles } from './migration-files.ts';

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
  const disagreement = findDisagreement(files, done);
  if (disagreement !== null) throw new SchemaMismatch(`the schema ${schema}: ${disagreement}`);
  const [first] = lacking(files, done);
  if (first !== undefined) {
    throw new SchemaMismatch(
      `the schema ${schema} is older than this version (it lacks ${first.name}): run affiliate-mirror migrate`,
    );
  }
}
