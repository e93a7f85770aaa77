// Where the tests' own servers keep their files: in memory where there is room, since half of a test's time can be the
// disk's (measured: a database made of the template in 0.28 s on a virtual machine's disk, in 0.02 s in memory).

import { statfsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
const LEAST_ROOM_BYTES = 6 * 1024 ** 3;

/** Returns a new directory for a server's files, its name beginning with the prefix; to be removed by the caller. */
export function makeServerDirectory(prefix: string): Promise<string> {
  return mkdtemp(join(hasRoomInMemory() ? IN_MEMORY : tmpdir(), prefix));
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= LEAST_ROOM_BYTES;
  } catch {
    return false;
  }
}
