// Applies files of the migrations, and says which one fails.

import { escapeIdentifier, type PoolClient } from 'pg';
import { MigrationFailed } from '../errors.ts';
import { type MigrationFile, REPORTS } from './migration-files.ts';
import { reportsSchema } from './sibling-schema.ts';

/** Returns the name of the table that notes them; quoted, since a schema may be named by a word of SQL. */
export function migrationsTable(schema: string): string {
  return `${escapeIdentifier(schema)}.schema_migrations`;
}

/**
 * Applies the files in one transaction, and notes those that are new.
 *
 * Throws: MigrationFailed where one fails; nothing of any of them remains.
 */
export async function applyFiles(
  client: PoolClient,
  schema: string,
  files: readonly MigrationFile[],
  { isNew }: { isNew: boolean },
): Promise<void> {
  let name = '';
  try {
    await client.query(`begin; set local search_path to ${escapeIdentifier(schema)}`);
    for (const file of files) {
      name = file.name;
      await client.query(file.sql.replaceAll(REPORTS, escapeIdentifier(reportsSchema(schema))));
      if (!isNew) continue;
      await client.query(`insert into ${migrationsTable(schema)} (name, sha256) values ($1, $2)`, [
        name,
        file.sha256,
      ]);
    }
    await client.query('commit');
  } catch (error) {
    throw new MigrationFailed(`${name} failed; nothing of it remains`, {
      cause: error,
    });
  }
}
