import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ExportTargetUnwritable } from '../../../src/base/errors.ts';
import { withLifetime } from '../../../src/cli/lifetime.ts';
import { openWholeFile } from '../../../src/cli/output/whole-file.ts';
import { makeDirectory } from '../../support/directory.ts';

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

describe('the permissions', () => {
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  async function writeTo(path: string, like?: string): Promise<void> {
    await withLifetime(async (lifetime) => {
      const options = { mayReplace: true, ...(like !== undefined && { like }) };
      await (await openWholeFile(path, lifetime, options)).write(Buffer.from('new'));
      return 0;
    });
  }

  test.each([0o600, 0o640, 0o664])('of a file that is replaced are kept: %i', async (mode) => {
    const path = join(await makeDirectory(), 'done.csv');
    await writeFile(path, 'old');
    await chmod(path, mode);
    await writeTo(path);
    expect([await readFile(path, 'utf8'), await modeOf(path)]).toEqual(['new', mode]);
  });

  test('of a new file are those of the one whose rows it repeats, but no wider than usual', async () => {
    const directory = await makeDirectory();
    const [secret, open] = [join(directory, 'secret.csv'), join(directory, 'open.csv')];
    await writeFile(secret, '');
    await chmod(secret, 0o600);
    await writeFile(open, '');
    await chmod(open, 0o777);
    const usual = join(directory, 'usual.csv');
    await writeTo(usual);
    await writeTo(join(directory, 'of-secret.csv'), secret);
    await writeTo(join(directory, 'of-open.csv'), open);
    expect(await modeOf(join(directory, 'of-secret.csv'))).toBe(0o600);
    expect(await modeOf(join(directory, 'of-open.csv'))).toBe(await modeOf(usual));
  });
});
