// One export at a time puts its file in place: of two that did it at once, one's file could get the other's manifest.

import { open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../describe-error.ts';
import { sleep } from '../../sleep.ts';

/** Renaming takes milliseconds: who has been at it for so long was killed. */
const LONGEST_MS = 60_000;
const PAUSE_MS = 20;

/** Does the work while no other process does work for the path. Throws: what the work throws, and the file system. */
export async function whileAlone(path: string, work: () => Promise<void>): Promise<void> {
  const lock = join(dirname(path), `.${basename(path)}.lock`);
  while (!(await take(lock))) {
    if (await isLeft(lock)) await rm(lock, { force: true });
    else await sleep(PAUSE_MS);
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx');
    await handle.close();
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return false;
  }
}

async function isLeft(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > LONGEST_MS;
}
