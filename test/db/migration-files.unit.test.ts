// The migrations of this version.

import { expect, test } from 'vitest';
import { MIGRATIONS_DIRECTORY, readMigrationFiles } from '../../src/db/migration-files.ts';

test('are read once in a process: a package that is replaced under it brings it none, and a check costs nothing', async () => {
  const files = await readMigrationFiles(MIGRATIONS_DIRECTORY);
  expect(files.length).toBeGreaterThan(10);
  expect(await readMigrationFiles(MIGRATIONS_DIRECTORY)).toBe(files);
});

test('have names that say what they do, each with a number of its own', async () => {
  const names = (await readMigrationFiles(MIGRATIONS_DIRECTORY)).map(({ name }) => name);
  for (const name of names) expect(name).toMatch(/^\d{4}_[a-z0-9_]+\.sql$/);
  expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length);
});
