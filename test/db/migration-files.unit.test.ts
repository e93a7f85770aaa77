// The migrations of this version.

import { expect, test } from 'vitest';
import { MIGRATIONS_DIRECTORY, readMigrationFiles } from '../../src/db/migration-files.ts';

test('are read once in a process: a package that is replaced under it brings it none, and a check costs nothing', async () => {
  const files = await readMigrationFiles(MIGRATIONS_DIRECTORY);
  expect(files.length).toBeGreaterThan(10);
  expect(await readMigrationFiles(MIGRATIONS_DIRECTORY)).toBe(files);
});
