// What an export has published, and what became of payments, is on the disk: a power cut keeps it.

import { readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { withLifetime } from '../src/cli/lifetime.ts';
import { openWholeFile } from '../src/cli/output/whole-file.ts';
import type { Delivery } from '../src/exports/targets/delivery.ts';
import { deliverFile, deliverIntoDirectory } from '../src/exports/targets/local.ts';
import { makeDirectory } from './support/directory.ts';

let directory: string;
beforeEach(async () => {
  directory = await makeDirectory();
});

// What is on the disk cannot be seen without a power cut: it is seen what is written through to it.
describe.runIf(process.platform === 'linux')('a power cut keeps what is written:', () => {
  test.each([
    ['a directory', (at: string) => deliverIntoDirectory(at, 'referrals/export=1'), 'referrals'],
    ['a file', (at: string) => deliverFile(join(at, 'x.csv')), '.'],
  ])('the name of %s is on the disk', async (_, deliver, where) => {
    const synced = await watchSyncs();
    await publish(await deliver(directory), 'x.csv');
    expect(synced.at(-1)).toBe(join(directory, where));
  });

  test('the name of a payout file, or of what became of payments, is on the disk', async () => {
    const synced = await watchSyncs();
    await withLifetime(async (lifetime) => {
      const file = await openWholeFile(join(directory, 'done.csv'), lifetime, { mayReplace: true });
      await file.write(Buffer.from('x'));
      return 0;
    });
    expect(synced.map((path) => relative(directory, path))).toEqual([
      expect.stringMatching(/^\.done\.csv/),
      '',
    ]);
  });

  test('the names of all directories that were made for an export are on the disk, and of what is in them', async () => {
    const synced = await watchSyncs();
    await publish(deliverIntoDirectory(join(directory, 'new/exports'), 'referrals/export=1'), 'day=1/x.csv');
    const places = synced.map((path) => relative(directory, path).replace(/\.(export=1)\.\w+\.tmp/, 'DRAFT'));
    expect(new Set(places)).toEqual(
      new Set([
        '',
        'new',
        'new/exports',
        'new/exports/referrals',
        ...['', '/manifest.json', '/day=1', '/day=1/x.csv'].map(
          (path) => `new/exports/referrals/DRAFT${path}`,
        ),
      ]),
    );
  });
});

/** Returns the paths of all files and directories that are synced from now on. */
async function watchSyncs(): Promise<string[]> {
  const synced: string[] = [];
  const probe = await open(directory);
  const handles = Object.getPrototypeOf(probe);
  await probe.close();
  const { sync } = handles;
  handles.sync = async function (this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
  };
  onTestFinished(() => {
    handles.sync = sync;
  });
  return synced;
}

async function publish(delivery: Delivery, path: string): Promise<void> {
  const file = await delivery.openFile(path);
  await file.write(Buffer.from('x'));
  await file.close();
  await delivery.publish('{}');
}
