// Whose program the API serves: an account that has none of the mirror's records changes nothing in the mirror, ends no
// payment, and is only taken over if a person says so.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeApiClient } from '../../src/api/client.ts';
import { previewUpdates } from '../../src/commissions/preview-updates.ts';
import { trackCommissions } from '../../src/commissions/tracking/track-commissions.ts';
import { pollTracked } from '../../src/commissions/tracking/tracked-commissions.ts';
import { drainUpdates } from '../../src/commissions/writer/drain-updates.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import { makeAccount } from '../../src/mirror/account.ts';
import type { SyncInput } from '../../src/sync/run-sync.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

const SIZE = { spelling: 'live', affiliates: 120, referrals: 400, optionalLists: ['commissions'] } as const;
const given = useSyncing(SIZE);
const log = pino({ level: 'silent' });
const RESOURCES = ['affiliates', 'referrals', 'commissions'] as const;
const signal = new AbortController().signal;

beforeEach(async () => {
  await given().database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sales, commissions, sync_runs, seen_rows, held_back_deletions,
       record_history, covered_counters, commission_updates, tracked_commissions restart identity cascade`,
  );
});

async function otherAccount(options: object = {}): Promise<TestSandbox> {
  const { pool } = await createTestDatabase();
  return runSandbox(pool, { ...SIZE, seed: 99, ...options });
}

function clientOf({ url }: { url: string }) {
  return makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url, secret: SECRET, timeoutMs: 5000, attempts: { firstWaitMs: 0, most: 1 } },
  );
}

function syncWith(program: { url: string }, resource: ListedResource, input: Partial<SyncInput> = {}) {
  const options = { resource, mode: 'full', acceptDeletes: false, ...input } as const;
  return runSync({ api: clientOf(program), db: given().db, log }, options);
}

/** Everything that the mirror says of records and payments; the run log may grow. */
async function readMirror(): Promise<unknown> {
  const tables = [
    'affiliates',
    'campaigns',
    'links',
    'referrals',
    'sales',
    'commissions',
    'commission_updates',
  ];
  const { rows } = await given().database.pool.query(
    `select ${tables
      .map(
        (table) =>
          `(select jsonb_agg(to_jsonb(r) - '{attempts,next_attempt_at,claimed_until,claimed_by,last_error}'::text[] order by r.id) from ${table} r) as ${table}`,
      )
      .join(', ')}`,
  );
  return rows[0];
}

async function ask(commissionId: string): Promise<void> {
  await given().database.pool.query(
    `insert into commission_updates (commission_id, action, paid_at) values ($1, 'pay', '2026-10-05T12:00:00Z')`,
    [commissionId],
  );
}

describe('another account', () => {
  test.each([
    ['full', RESOURCES],
    ['delta', ['affiliates', 'referrals', 'commissions']],
  ] as const)('ends a %s run of every resource before anything is written', async (mode, resources) => {
    await given().syncAll();
    const before = await readMirror();
    const other = await otherAccount();
    for (const resource of resources) {
      await expect(syncWith(other, resource, { mode })).rejects.toMatchObject({
        code: 'PROGRAM_CHANGED',
        exitCode: 1,
      });
    }
    expect(await readMirror()).toEqual(before);
    const { rows } = await given().database.pool.query(
      `select distinct state, error_code from sync_runs where mode = $1 and state <> 'succeeded'`,
      [mode],
    );
    expect(rows).toEqual([{ state: 'failed', error_code: 'PROGRAM_CHANGED' }]);
    await other.close();
  });

  test('whose list is empty is another account as well', async () => {
    await given().syncAll();
    const before = await readMirror();
    const empty = await otherAccount({ affiliates: 1, referrals: 0 });
    for (const resource of RESOURCES) {
      await expect(syncWith(empty, resource)).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
    }
    expect(await readMirror()).toEqual(before);
    await empty.close();
  });

  test('is taken over if a person accepts it, and its former records are held back as deletions', async () => {
    await given().syncAll();
    const other = await otherAccount();
    const run = await syncWith(other, 'affiliates', { acceptProgram: true });
    expect(run).toMatchObject({
      state: 'partial',
      rows_inserted: 120,
      rows_deleted: 0,
      deletes_held_back: 120,
    });
    // From then on its records are those that the mirror knows.
    expect(await syncWith(other, 'referrals')).toMatchObject({ verified: true });
    await other.close();
  });
});

describe('the same account', () => {
  test('under another address goes on, without a request more', async () => {
    const { syncAll, database } = given();
    await syncAll();
    const runs = await syncAll();
    // The same tables, served at another port.
    const moved = await runSandbox(database.pool, SIZE);
    for (const { resource, requests } of runs) {
      expect(await syncWith(moved, resource)).toMatchObject({ verified: true, requests });
    }
    await moved.close();
  });

  test('of which half of the records are gone goes on, and holds the deletions back', async () => {
    const { pool } = await createTestDatabase();
    const program = await runSandbox(pool, { ...SIZE, seed: 5 });
    for (const resource of RESOURCES) await syncWith(program, resource);
    const referrals = await program.allReferrals();
    for (const { id } of referrals.slice(0, referrals.length / 2)) await program.program.deleteReferral(id);
    expect(await syncWith(program, 'referrals')).toMatchObject({
      state: 'partial',
      rows_deleted: 0,
      verified: true,
    });
    await program.close();
  });

  test('with more than a page of new records before the known ones is recognised by the known ones', async () => {
    const { pool } = await createTestDatabase();
    const program = await runSandbox(pool, { ...SIZE, affiliates: 20, referrals: 30, seed: 6 });
    for (const resource of RESOURCES) await syncWith(program, resource);
    for (let index = 0; index < 150; index += 1) await program.program.insertAffiliate();
    expect(await syncWith(program, 'affiliates')).toMatchObject({ verified: true, rows_inserted: 150 });
    await program.close();
  });
});

test('a secret that is read anew may be that of another account, and is not believed without evidence', async () => {
  await given().syncAll();
  const other = await otherAccount();
  let [current, renewals] = [given().api, 0];
  const api = {
    list: (...call: Parameters<typeof current.list>) => current.list(...call),
    getCommission: (...call: Parameters<typeof current.getCommission>) => current.getCommission(...call),
    renewals: () => renewals,
  };
  const account = makeAccount({ api, db: given().db });
  await account.confirm([], { signal });
  [current, renewals] = [clientOf(other), 1];
  await expect(account.confirm([], { signal })).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
  await other.close();
});

describe('payments and tracked commissions at another account', () => {
  test('stay pending, and the drain ends with the reason', async () => {
    await given().syncAll();
    const [commission] = (await given().sandbox.allCommissions()).filter(({ paid_at }) => paid_at === null);
    if (commission === undefined) throw new Error('every commission is paid');
    await ask(commission.id);
    const before = await readMirror();
    const other = await otherAccount();
    const api = clientOf(other);
    await expect(
      drainUpdates({ api, db: given().db, log }, { concurrency: 3, signal }),
    ).rejects.toMatchObject({
      code: 'PROGRAM_CHANGED',
    });
    expect(await readMirror()).toEqual(before);
    expect(other.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
    const dryRun = previewUpdates(
      { client: api, db: given().db },
      [{ commission_id: commission.id, action: 'pay', paid_at: '2026-10-05T12:00:00Z' } as never],
      { concurrency: 1, signal },
    );
    await expect(dryRun.next()).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
    await other.close();
  });

  test('nothing is sent for a commission that the other account has, and the mirror does not', async () => {
    await given().syncAll();
    const other = await otherAccount();
    const [theirs] = (await other.allCommissions()).filter(({ paid_at }) => paid_at === null);
    await ask(theirs?.id ?? '');
    const before = await readMirror();
    const drained = drainUpdates({ api: clientOf(other), db: given().db, log }, { concurrency: 1, signal });
    await expect(drained).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
    expect(await readMirror()).toEqual(before);
    expect(other.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
    await other.close();
  });

  test('a tracked commission is not marked deleted', async () => {
    await given().syncAll();
    const [commission] = await given().sandbox.allCommissions();
    await trackCommissions(given().db, [commission?.id ?? ''], null);
    const before = await readMirror();
    const other = await otherAccount();
    const polled = pollTracked({ client: clientOf(other), db: given().db, log }, { concurrency: 1, signal });
    await expect(polled).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
    expect(await readMirror()).toEqual(before);
    await other.close();
  });
});
