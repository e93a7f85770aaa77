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

export interface AppliedMigration {
  readonly name: string;
  readonly sha256: string;
}

/**
 * Returns what is wrong and what to do where a migration was applied that is not here, or was edited since; null where
 * none was. No command repairs the latter: nobody knows what the edit changed.
 */
export function findDisagreement(
  files: readonly MigrationFile[],
  done: readonly AppliedMigration[],
): string | null {
  const here = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const other = done.find(({ name, sha256 }) => here.get(name) !== sha256);
  if (other === undefined) return null;
  return here.has(other.name)
    ? `${other.name} was edited after it had been applied: run the version of affiliate-mirror that made the schema, or restore the file`
    : `the schema is newer than this version (it has ${other.name}): update affiliate-mirror`;
}

/** Returns the files that were not applied yet. */
export function lacking(
  files: readonly MigrationFile[],
  done: readonly AppliedMigration[],
): readonly MigrationFile[] {
  const names = new Set(done.map(({ name }) => name));
  return files.filter(({ name }) => !names.has(name));
}

async function readMigrationFile(directory: string, name: string): Promise<MigrationFile> {
  // A checkout on Windows may change line ends; that is not an edit.
  const sql = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n');
  return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
}
