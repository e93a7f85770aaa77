// Everything a test of an export needs: referrals to export, a storage that can be told to misbehave, and a directory.

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { type ObjectStorage, startObjectStorage } from '../support/object-storage.ts';
import { runCli } from '../support/run-cli.ts';
import { fillReferrals } from './odd-rows.ts';

export const ROWS = 5000;

export interface Exporting {
  /** Its referrals have the identifiers 00000001 to ROWS, and texts long enough for an upload in parts. */
  readonly database: TestDatabase;
  readonly storage: ObjectStorage;
  /** Empty at the start of each test. */
  readonly directory: string;
  /** The database and the storage. */
  readonly environment: Readonly<Record<string, string>>;
  /** Exports referrals, with these arguments. */
  run(...args: string[]): ReturnType<typeof runCli>;
}

/** Registers all of it for each test file; returns the function to reach it. */
export function useExporting(): () => Exporting {
  let database: TestDatabase;
  let storage: ObjectStorage;
  let directory: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    await fillReferrals(database.pool, ROWS);
    // What no compression makes smaller than half: every file is larger than any pipe.
    await database.pool.query(
      `update referrals set coupon = to_jsonb((select string_agg(md5(id || n), '') from generate_series(1, 100) n))`,
    );
    storage = await startObjectStorage();
  });
  afterAll(() => storage.close());
  beforeEach(async () => {
    directory = await makeDirectory();
  });
  afterEach(async () => {
    storage.intercept = null;
  });
  return () => {
    const environment = { DATABASE_URL: database.url, ...storage.environment };
    const run = (...args: string[]) => runCli(['export', 'mirror.referrals', ...args], environment);
    return { database, storage, directory, environment, run };
  };
}
