// Reads a file that the user names, or standard input.

import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { ConfigError } from '../errors.ts';

/** Returns the bytes of the file, or of standard input for `-`. Throws: ConfigError where it cannot be read. */
export async function readInput(path: string): Promise<Uint8Array> {
  if (path === '-') return await buffer(process.stdin);
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    const reason = code === 'ENOENT' ? 'there is no such file' : code;
    throw new ConfigError([`cannot read ${path}: ${reason}`]);
  }
}
