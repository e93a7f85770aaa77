// The program as the package has it, built for one test run: it starts in less than half of the source's time.

import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { buildJavaScript } from '../packaging/build.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Below the project's node_modules, where packages that are not in the bundle are found. */
const PARENT = join(ROOT, 'node_modules/.cache');

/** Returns its directory, with dist/main.js in it, to be removed by the caller. Throws: where it cannot be bundled. */
export async function buildProgram(): Promise<string> {
  await mkdir(PARENT, { recursive: true });
  const directory = await mkdtemp(join(PARENT, 'affiliate-mirror-built-'));
  await buildJavaScript(join(directory, 'dist'));
  for (const name of ['package.json', 'migrations', 'docs']) {
    await symlink(join(ROOT, name), join(directory, name));
  }
  return directory;
}
