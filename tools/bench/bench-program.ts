// The built program, for as long as a bench lasts.

import { rm } from 'node:fs/promises';
import { buildProgram, makeProgramDirectory } from '../../test/support/build-program.ts';

/** Returns the file to start. It and its directory are removed when the bench ends. Throws: as buildProgram. */
export async function buildBenchProgram(cleanup: AsyncDisposableStack): Promise<string> {
  // In one step with the line after it: nothing can come between.
  const directory = makeProgramDirectory();
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const building = buildProgram(directory);
  // A bench that is stopped meanwhile waits for it: what is removed must not be written again.
  cleanup.defer(async () => {
    await Promise.allSettled([building]);
  });
  return building;
}
