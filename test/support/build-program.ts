// The program as it is published, built in a second: what users start, and what starts in less than half of the
// source's time.

import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildJavaScript } from '../../tools/packaging/build.ts';

const ROOT = join(import.meta.dirname, '../..');
/**
 * Below the project's node_modules: packages that are not bundled are found from there, and pg is the very one whose
 * statements a bench counts.
 */
const PARENT = join(ROOT, 'node_modules/.cache');

/** Returns a new directory for a program, to be removed by the caller. */
export function makeProgramDirectory(): string {
  mkdirSync(PARENT, { recursive: true });
  return mkdtempSync(join(PARENT, 'affiliate-mirror-built-'));
}

/** Returns the file to start, in the directory. Throws: where the code cannot be bundled. */
export async function buildProgram(directory: string): Promise<string> {
  mkdirSync(join(directory, 'src/web'), { recursive: true });
  for (const name of ['package.json', 'migrations', 'docs', 'src/web/assets']) {
    symlinkSync(join(ROOT, name), join(directory, name));
  }
  await buildJavaScript(join(directory, 'dist'));
  return join(directory, 'dist/main.js');
}
