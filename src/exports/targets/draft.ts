// How a file on this machine appears whole and stays: it has another name until it is whole, and its directory is
// synced to the disk. And the error of a file that cannot be written.

import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, errorCode } from '../../base/describe-error.ts';
import { ExportTargetUnwritable } from '../../base/errors.ts';

/** Errors of systems that cannot open or sync directories, or of a user who may not read one. As in Postgres. */
const UNSYNCABLE = ['EISDIR', 'EACCES', 'EPERM', 'EBADF', 'EINVAL'];

/**
 * Returns the name of a file or a directory until it is whole: in the same directory, so that it can be renamed, and
 * hidden, so that no pattern of a reader finds it.
 */
export function nameDraft(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);
}

/** Of a new file. */
const USUAL_MODE = 0o666;
const PERMISSIONS = 0o777;

/**
 * Returns a new draft with the permissions of the file that it replaces; if there is none, with `mode`, as far as the
 * process's umask allows.
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

/** Syncs the names in a directory to the disk. Otherwise a power cut may undo a renaming. */
export async function syncNames(directory: string): Promise<void> {
  try {
    const handle = await open(directory);
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!UNSYNCABLE.includes(errorCode(error))) throw error;
  }
}

/** Returns the result of `work`. Throws: ExportTargetUnwritable with the location. */
export async function whileWriting<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ExportTargetUnwritable(`cannot write ${location}: ${describeError(error)}`, { cause: error });
  }
}
