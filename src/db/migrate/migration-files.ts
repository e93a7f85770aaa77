// Reads the files of the migrations, and compares them with the applied ones.
//
// Numbered files make the tables, and each is applied once. Functions, triggers and views are `create or replace` in
// files of their own, which keeps users' views and grants: a changed file is applied again.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_DIRECTORY, readVersion } from '../../base/package.ts';

export const MIGRATIONS_DIRECTORY = join(PACKAGE_DIRECTORY, 'migrations');

/** The package's version at the start of this process: the package may be replaced meanwhile. */
export const VERSION = readVersion();

/** The schema of the reports in a file; every other name is in the mirror's. */
export const REPORTS = ':"reports"';

/** The folders of files that are applied again, in their order. */
const REPEATED = ['functions', 'views', 'reports'];

export interface MigrationFile {
  /** With its folder: views/commissions.sql. */
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  /** Whether it makes functions or views, and is applied again if it changes. */
  readonly isRepeated: boolean;
}

let own: Promise<readonly MigrationFile[]> | null = null;

/**
 * Returns every migration of the directory, in their order. The package's own are read once, so that a worker does not
 * take the files of a new package for its own.
 */
export function readMigrationFiles(directory: string): Promise<readonly MigrationFile[]> {
  if (directory !== MIGRATIONS_DIRECTORY) return readDirectory(directory);
  own ??= readDirectory(directory).catch((error: unknown) => {
    own = null;
    throw error;
  });
  return own;
}

/** Returns the names of the views of the reports. */
export async function readReportNames(): Promise<readonly string[]> {
  const files = await readMigrationFiles(MIGRATIONS_DIRECTORY);
  const views = files.flatMap(({ sql }) => [...sql.matchAll(/^create or replace view :"reports"\.(\w+)/gm)]);
  return views.map(([, name = '']) => name).toSorted();
}

async function readDirectory(directory: string): Promise<readonly MigrationFile[]> {
  const paths = await readdir(directory, { recursive: true });
  const names = paths.map((path) => path.replaceAll('\\', '/')).filter((path) => path.endsWith('.sql'));
  const placed = names.map((name) => ({ name, place: REPEATED.indexOf(name.split('/')[0] ?? '') }));
  const ordered = placed.toSorted((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1));
  return Promise.all(
    ordered.map(({ name, place }) => readMigrationFile(directory, { name, isRepeated: place !== -1 })),
  );
}

async function readMigrationFile(
  directory: string,
  file: Pick<MigrationFile, 'name' | 'isRepeated'>,
): Promise<MigrationFile> {
  // A checkout on Windows may change line ends, which is not an edit.
  const sql = (await readFile(join(directory, file.name), 'utf8')).replaceAll('\r\n', '\n');
  return { ...file, sql, sha256: createHash('sha256').update(sql).digest('hex') };
}

export interface AppliedMigration {
  readonly name: string;
  readonly sha256: string;
  /** The version of affiliate-mirror that last applied it. */
  readonly version: string;
}

export interface Disagreement {
  /** The fault and its remedy. */
  readonly reason: string;
  /** Whether a newer version made the schema. */
  readonly isNewer: boolean;
}

/**
 * Returns the fault and its remedy if a newer version applied a file, or a numbered file was edited since; else null.
 * No command repairs an edited file, because its changes are unknown.
 */
export function findDisagreement(
  files: readonly MigrationFile[],
  done: readonly AppliedMigration[],
): Disagreement | null {
  const here = new Map(files.map((file) => [file.name, file]));
  for (const { name, sha256, version } of done) {
    const file = here.get(name);
    if (file?.sha256 === sha256) continue;
    if (file === undefined || (file.isRepeated && isNewer(version))) {
      const reason = `the schema is newer than this version (it has ${name}): update affiliate-mirror`;
      return { reason, isNewer: true };
    }
    if (!file.isRepeated) {
      const reason = `${name} was edited after it had been applied: run the version of affiliate-mirror that made the schema, or restore the file`;
      return { reason, isNewer: false };
    }
  }
  return null;
}

function isNewer(version: string): boolean {
  return version.localeCompare(VERSION, 'en', { numeric: true }) > 0;
}

/** Returns the files that were not applied, or not in this form. */
export function lacking(
  files: readonly MigrationFile[],
  done: readonly AppliedMigration[],
): readonly MigrationFile[] {
  const applied = new Map(done.map(({ name, sha256 }) => [name, sha256]));
  return files.filter(({ name, sha256 }) => applied.get(name) !== sha256);
}
