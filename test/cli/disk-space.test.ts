// How much the database may still grow, from where each configuration knows it.

import { mkdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readDiskSpace } from '../../src/cli/disk-space.ts';
import { makeDirectory } from '../support/directory.ts';

const ELSEWHERE = { databaseUrl: 'postgres://db.example.com/mirror', dataDir: '/nowhere' };

test('the disk of another server is what DATABASE_SIZE_LIMIT says, or not known', async () => {
  const space = await readDiskSpace({ ...ELSEWHERE, databaseSizeLimit: 5e9 });
  expect(space).toEqual({ source: 'limit', limitBytes: 5e9 });
  expect(await readDiskSpace({ ...ELSEWHERE, databaseSizeLimit: null })).toBe(null);
});

test('for the embedded Postgres it is what the file system of DATA_DIR has left', async () => {
  const dataDir = await makeDirectory();
  onTestFinished(() => rm(dataDir, { recursive: true }));
  await mkdir(join(dataDir, 'postgres'));
  const space = await readDiskSpace({ databaseSizeLimit: null, databaseUrl: null, dataDir });
  const { bavail, bsize, blocks } = await statfs(dataDir);
  if (space?.source !== 'file_system') throw new Error('the file system was not asked');
  // Others write to the same disk meanwhile.
  expect(Math.abs(space.freeBytes - bavail * bsize)).toBeLessThan(0.05 * blocks * bsize);
  expect(space.freeBytes).toBeGreaterThan(0);
});
