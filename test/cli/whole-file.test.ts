import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withLifetime } from '../../src/cli/lifetime.ts';
import { openWholeFile } from '../../src/cli/whole-file.ts';
import { ExportTargetUnwritable } from '../../src/errors.ts';

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-whole-file-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test('a file that can be written no more is named as that, not as a bug', async () => {
  const directory = await makeDirectory();
  const path = join(directory, 'payouts.csv');
  await withLifetime(async (lifetime) => {
    const file = await openWholeFile(path, lifetime, { mayReplace: false });
    await rm(directory, { recursive: true });
    const written = file.write(Buffer.from('x'));
    await expect(written).rejects.toThrow(ExportTargetUnwritable);
    await expect(written).rejects.toThrow(`cannot write ${path}: `);
    return 0;
  });
});

test('what is not written leaves nothing, and what is written is whole', async () => {
  const directory = await makeDirectory();
  const path = join(directory, 'payouts.csv');
  const open = (write: boolean) =>
    withLifetime(async (lifetime) => {
      const file = await openWholeFile(path, lifetime, { mayReplace: false });
      if (write) await file.write(Buffer.from('x'));
      return 0;
    });
  await open(false);
  expect(await readdir(directory)).toEqual([]);
  await open(true);
  expect(await readdir(directory)).toEqual(['payouts.csv']);
  expect(await readFile(path, 'utf8')).toBe('x');
});
