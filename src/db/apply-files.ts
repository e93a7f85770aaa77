// Applies files of the migrations, and says where one fails.

import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
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
  let text = '';
  try {
    await client.query(`begin; set local search_path to ${escapeIdentifier(schema)}`);
    for (const file of files) {
      name = file.name;
      text = file.sql.replaceAll(REPORTS, escapeIdentifier(reportsSchema(schema)));
      await client.query(text);
      if (!isNew) continue;
      await client.query(`insert into ${migrationsTable(schema)} (name, sha256) values ($1, $2)`, [
        name,
        file.sha256,
      ]);
    }
    await client.query('commit');
  } catch (error) {
    throw new MigrationFailed(`${name}${place(text, error)} failed; nothing of it remains`, {
      cause: error,
    });
  }
}

// Postgres counts characters in the whole file, from 1; it gives no position for an error at run time, but often
// names the statement or the function.
function place(text: string, error: unknown): string {
  if (!(error instanceof DatabaseError)) return '';
  if (error.position !== undefined) {
    const before = [...text].slice(0, Number(error.position) - 1);
    const line = before.filter((character) => character === '\n').length + 1;
    return ` line ${line} (${text.split('\n')[line - 1]?.trim()})`;
  }
  const details = [error.where, error.detail].filter((detail) => detail !== undefined);
  return details.length === 0 ? '' : ` (${details.join('; ').replaceAll('\n', ' ')})`;
}
