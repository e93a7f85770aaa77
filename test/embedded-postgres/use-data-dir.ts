// A data directory of its own for every test of a file, removed with whatever still runs in it. Import it from a test
// file only.

import { join } from 'node:path';
import { afterEach, beforeEach, inject } from 'vitest';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { killEmbeddedUsers } from '../support/embedded-user.ts';
import { copyCluster } from '../support/prepared-cluster.ts';

export interface TestDataDir {
  /** What DATA_DIR names in the test that runs. */
  readonly dataDir: string;
  /** What the embedded Postgres makes in it. */
  readonly home: string;
  /** Puts there what a first start leaves behind. */
  makeCluster(): Promise<void>;
}

/** Returns the directory of the test that runs, always the same object. */
export function useDataDir(): TestDataDir {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = await makeDataDir();
  });
  afterEach(async () => {
    await killEmbeddedUsers();
    await removeDataDir(dataDir);
  });
  return {
    get dataDir() {
      return dataDir;
    },
    get home() {
      return join(dataDir, 'postgres');
    },
    makeCluster: () => copyCluster(inject('preparedCluster'), dataDir),
  };
}
