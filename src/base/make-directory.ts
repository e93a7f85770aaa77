// Makes a directory with its parents.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './describe-error.ts';

/**
 * Makes the directory and those above it, and returns those that it made, the uppermost first. Node's own
 * `recursive` never ends below /proc.
 */
export async function makeDirectory(directory: string, mode = 0o777): Promise<string[]> {
  try {
    return await makeOne(directory, mode);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    // Another process may have made those above by now: makeOne accepts that.
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
