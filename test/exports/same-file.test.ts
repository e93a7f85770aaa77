// Several exports to the same file at once: whichever is last, its manifest is beside it.

import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deliverFile } from '../../src/exports/targets/local.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-same-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function exportTo(path: string, text: string): Promise<void> {
  const delivery = await deliverFile(path);
  const file = await delivery.openFile('');
  await file.write(Buffer.from(text));
  await file.close();
  await delivery.publish(text);
}

test('the manifest is that of the file, whoever was last', async () => {
  for (let round = 0; round < 40; round += 1) {
    const path = join(directory, `${round}.csv`);
    await Promise.all(['a', 'b', 'c', 'd'].map((text) => exportTo(path, text)));
    expect(readFileSync(`${path}.manifest.json`, 'utf8')).toBe(readFileSync(path, 'utf8'));
  }
  expect(readdirSync(directory).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('an export that was killed while it put its file in place does not keep the next one from it', async () => {
  const path = join(directory, 'x.csv');
  const lock = join(directory, '.x.csv.lock');
  writeFileSync(lock, '');
  const before = new Date(Date.now() - 3_600_000);
  utimesSync(lock, before, before);
  await exportTo(path, 'a');
  expect(readdirSync(directory).toSorted()).toEqual(['x.csv', 'x.csv.manifest.json']);
});
