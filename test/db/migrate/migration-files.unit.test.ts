// The migrations of this version.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MIGRATIONS_DIRECTORY, readMigrationFiles } from '../../../src/db/migrate/migration-files.ts';

test('are read once in a process: a package that is replaced under it brings it none, and a check costs nothing', async () => {
  const files = await readMigrationFiles(MIGRATIONS_DIRECTORY);
  expect(files.length).toBeGreaterThan(10);
  expect(await readMigrationFiles(MIGRATIONS_DIRECTORY)).toBe(files);
});

test('have names that say what they do, and those of tables each a number of its own', async () => {
  const names = (await readMigrationFiles(MIGRATIONS_DIRECTORY)).map(({ name }) => name);
  const numbered = names.filter((name) => !name.includes('/'));
  for (const name of names) expect(name).toMatch(/^(\d{4}_|(functions|views|reports)\/)[a-z0-9_]+\.sql$/);
  expect(new Set(numbered.map((name) => name.slice(0, 4))).size).toBe(numbered.length);
});

test('of tables are frozen: each has the checksum that it was released with', async () => {
  const lines = readFileSync(join(MIGRATIONS_DIRECTORY, 'checksums.sha256'), 'utf8').trimEnd().split('\n');
  const files = await readMigrationFiles(MIGRATIONS_DIRECTORY);
  const numbered = files.filter(({ isRepeated }) => !isRepeated);
  expect(
    lines,
    'a change of a table is a new file, whose checksum is added: CONTRIBUTING.md, Migrations',
  ).toEqual(numbered.map(({ name, sha256 }) => `${sha256}  migrations/${name}`));
});
