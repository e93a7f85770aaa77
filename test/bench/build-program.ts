// The program as it is published, built once for a bench: what users start, and what starts in less than half of the
// source's time.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePackage } from '../packaging/make-package.ts';
import { makeDirectory } from './start-child.ts';

/**
 * Below the project's node_modules: packages that are not bundled are found from there, and pg is the very one whose
 * statements report-usage.ts counts.
 */
const PARENT = join(import.meta.dirname, '../../node_modules/.cache');

/** Returns the file to start. It and its directory are removed when the bench ends. Throws: as makePackage. */
export async function buildProgram(cleanup: AsyncDisposableStack): Promise<string> {
  mkdirSync(PARENT, { recursive: true });
  const directory = makeDirectory(cleanup, 'affiliate-mirror-bench-', PARENT);
  const building = makePackage(directory);
  // A bench that is stopped meanwhile waits for it: what is removed must not be written again.
  cleanup.defer(async () => {
    await Promise.allSettled([building]);
  });
  await building;
  return join(directory, 'dist/main.js');
}
