// Makes directories.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './errors.ts';

/**
 * Makes the directory and those above it, and returns those that it made, the uppermost first. Node's own way never
 * ends below /proc, where none can be made.
 */
export async function makeDirectory(directory: string, mode = 0o777): Promise<string[]> {
  try {
    await mkdir(directory, { mode });
    return [directory];
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && (await stat(directory)).isDirectory()) return [];
    const parent = dirname(directory);
    if (errorCode(error) !== 'ENOENT' || (await stat(parent).catch(() => null)) !== null) throw error;
    return [...(await makeDirectory(parent, mode)), ...(await makeDirectory(directory, mode))];
  }
}
