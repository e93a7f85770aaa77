// What makes a file on this machine appear whole and stay: another name until then, and a directory that is written
// through to the disk.

import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
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

/** Writes the names in a directory through to the disk. Without this a power cut takes back what was renamed. */
export async function keepNames(directory: string): Promise<void> {
  try {
    const handle = await open(directory);
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!UNSYNCABLE.includes(errorCode(error))) throw error;
  }
}
