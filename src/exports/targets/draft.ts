// What makes a file on this machine appear whole and stay: another name until then, and a directory that is written
// through to the disk.

import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../describe-error.ts';

/** What a system says that opens or syncs no directories, and where this user may not read one. As Postgres has it. */
const UNSYNCABLE = ['EISDIR', 'EACCES', 'EPERM', 'EBADF', 'EINVAL'];

/**
 * Returns the name of a file or a directory until it is whole: in the same directory, so that it can be renamed, and
 * hidden, so that no pattern of a reader finds it.
 */
export function nameDraft(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);
}

/** What everybody may do with a new file that nobody restricts. */
const USUAL_MODE = 0o666;
const PERMISSIONS = 0o777;

/**
 * Returns the new draft, which takes the place of the file that is there before, and so has its permissions: what only
 * its owner may read stays so. Where there is none, it has the given ones, as far as the process's umask lets it.
 *
 * Throws: the system's error.
 */
export async function openDraft(
  draft: string,
  before: Stats | null,
  mode: number = USUAL_MODE,
): Promise<FileHandle> {
  if (before === null) return await open(draft, 'wx', mode & USUAL_MODE);
  const permissions = before.mode & PERMISSIONS;
  const handle = await open(draft, 'wx', permissions);
  try {
    await handle.chmod(permissions);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle;
}

/** Writes the names in a directory through to the disk. Without this a power cut takes back what was renamed. */
export async function keepNames(directory: string): Promise<void> {
  try {
    const handle = await open(directory);
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!UNSYNCABLE.includes(errorCode(error))) throw error;
  }
}
