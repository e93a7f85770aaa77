// Reads the files of the migrations: their names, text and fingerprints.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_DIRECTORY } from '../package.ts';

export const MIGRATIONS_DIRECTORY = join(PACKAGE_DIRECTORY, 'migrations');

/** In a file, the schema of the reports; every other name is looked up in the mirror's. */
export const REPORTS = ':"reports"';

export interface MigrationFile {
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

let own: Promise<readonly MigrationFile[]> | null = null;

/**
 * Returns every migration of the directory, in the order in which they apply. Those of this version are read once: a
 * worker whose package is replaced while it runs must not take the new files for its own.
 */
export function readMigrationFiles(directory: string): Promise<readonly MigrationFile[]> {
  if (directory !== MIGRATIONS_DIRECTORY) return readDirectory(directory);
  own ??= readDirectory(directory).catch((error: unknown) => {
    own = null;
    throw error;
  });
  return own;
}

async function readDirectory(directory: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).toSorted();
  return Promise.all(names.map((name) => readMigrationFile(directory, name)));
}

/**
 * Returns what to do about a file that is not what was applied. No command repairs that: nobody knows what it changed.
 */
export function sayEdited(name: string): string {
  return `${name} was edited after it had been applied: run the version of affiliate-mirror that made the schema, or restore the file`;
}

async function readMigrationFile(directory: string, name: string): Promise<MigrationFile> {
  // A checkout on Windows may change line ends; that is not an edit.
  const sql = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n');
  return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
}
