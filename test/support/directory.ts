// An empty directory for a test file, removed when the file ends.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterFile } from './after-file.ts';

/** Returns its path. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-test-'));
  afterFile(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}
