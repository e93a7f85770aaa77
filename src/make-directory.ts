// Makes directories.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './describe-error.ts';

/**
 * Makes the directory and those above it, and returns those that it made, the uppermost first. Node's own way never
 * ends below /proc, where none can be made.
 */
export async function makeDirectory(directory: string, mode = 0o777): Promise<string[]> {
  try {
    return await makeOne(directory, mode);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    // Those above may be there by now, where another process makes them too: they are tried all the same.
    const above = await makeDirectory(dirname(directory), mode);
    return [...above, ...(await makeOne(directory, mode))];
  }
}

async function makeOne(directory: string, mode: number): Promise<string[]> {
  try {
    await mkdir(directory, { mode });
    return [directory];
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && (await stat(directory)).isDirectory()) return [];
    throw error;
  }
}
