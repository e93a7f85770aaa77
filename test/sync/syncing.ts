// Everything a test of a sync needs: a migrated mirror, a program, and runs of one against the other.

import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { type ApiClient, makeApiClient } from '../../src/api/client.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import type { Database } from '../../src/db/database.ts';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import type { RunSummary } from '../../src/sync/run-summary.ts';
import { runSync, type SyncInput } from '../../src/sync/run-sync.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';

export interface Syncing {
  readonly database: TestDatabase;
  readonly db: Database;
  readonly sandbox: TestSandbox;
  readonly api: ApiClient;
  sync(resource: ListedResource, input?: Partial<SyncInput>): Promise<RunSummary>;
  /** Affiliates, then referrals, as a scheduled sync does. */
  syncBoth(input?: Partial<SyncInput>): Promise<RunSummary[]>;
  /** The same, then commissions, as where the program lists them. */
  syncAll(input?: Partial<SyncInput>): Promise<RunSummary[]>;
}

/**
 * Registers a program and a mirror for each test file; returns the function to reach them. The program is as live ones
 * are, with visitors and nulls, unless the options say otherwise.
 */
export function useSyncing(options: Partial<SandboxOptions> = {}): () => Syncing {
  let syncing: Syncing | undefined;
  beforeAll(async () => {
    const database = await createTestDatabase();
    const sandbox = await runSandbox(database.pool, { spelling: 'live', ...options });
    syncing = makeSyncing(database, sandbox);
  });
  afterAll(() => syncing?.api.close());
  return () => {
    if (syncing === undefined) throw new Error('the sandbox has not started');
    return syncing;
  };
}

function makeSyncing(database: TestDatabase, sandbox: TestSandbox): Syncing {
  const log = pino({ level: 'silent' });
  const { db } = database;
  const api = makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url: sandbox.url, secret: SECRET, timeoutMs: 5000, attempts: { firstWaitMs: 0 } },
  );
  const sync: Syncing['sync'] = (resource, input = {}) =>
    runSync({ api, db, log }, { resource, mode: 'full', acceptDeletes: false, ...input });
  const syncBoth: Syncing['syncBoth'] = async (input) => [
    await sync('affiliates', input),
    await sync('referrals', input),
  ];
  return {
    database,
    db,
    sandbox,
    api,
    sync,
    syncBoth,
    syncAll: async (input) => [...(await syncBoth(input)), await sync('commissions', input)],
  };
}
