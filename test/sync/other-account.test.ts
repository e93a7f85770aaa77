// Whose program the API serves: an account that has none of the mirror's records changes nothing in the mirror, ends no
// payment, and is only taken over if a person says so.

import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { makeApiClient } from '../../src/api/client.ts';
import { makeAccount } from '../../src/mirror/account.ts';
import { trackCommissions } from '../../src/payments/poll/track-commissions.ts';
import { pollTracked } from '../../src/payments/poll/tracked-commissions.ts';
import { previewUpdates } from '../../src/payments/preview-updates.ts';
import { applyUpdates } from '../../src/payments/write/apply-updates.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

const SIZE = { spelling: 'live', affiliates: 120, referrals: 400, optionalLists: ['commissions'] } as const;
const given = useSyncing(SIZE);
const log = pino({ level: 'silent' });
const signal = new AbortController().signal;

beforeEach(async () => {
  await given().database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sales, commissions, sync_runs, seen_rows, held_back_deletions,
       record_history, covered_counters, commission_updates, tracked_commissions restart identity cascade`,
  );
});

/** The other account. No test changes it. */
let other: TestSandbox;

beforeAll(async () => {
  const { pool } = await createTestDatabase();
  other = await runSandbox(pool, { ...SIZE, seed: 99 });
});

function clientOf({ url }: { url: string }) {
  return makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url, secret: SECRET, timeoutMs: 5000, attempts: { firstWaitMs: 0, most: 1 } },
  );
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

test('a secret that is read anew may be that of another account, and is not believed without evidence', async () => {
  await given().syncAll();
  let [current, renewals] = [given().api, 0];
  const api: Pick<ApiClient, 'list' | 'getCommission' | 'renewals'> = {
    list: (resource, query, options) => current.list(resource, query, options),
    getCommission: (...call: Parameters<typeof current.getCommission>) => current.getCommission(...call),
    renewals: () => renewals,
  };
  const account = makeAccount({ api, db: given().db });
  await account.confirm([], { signal });
  [current, renewals] = [clientOf(other), 1];
  await expect(account.confirm([], { signal })).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
});

describe('payments and tracked commissions at another account', () => {
  test('stay pending, and the drain ends with the reason', async () => {
    await given().syncAll();
    const [commission] = (await given().sandbox.allCommissions()).filter(({ paid_at }) => paid_at === null);
    if (commission === undefined) throw new Error('every commission is paid');
    await ask(commission.id);
    const before = await readMirror();
    const api = clientOf(other);
    await expect(
      applyUpdates({ api, db: given().db, log }, { concurrency: 3, signal }),
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
  });

  test('nothing is sent for a commission that the other account has, and the mirror does not', async () => {
    await given().syncAll();
    const [theirs] = (await other.allCommissions()).filter(({ paid_at }) => paid_at === null);
    await ask(theirs?.id ?? '');
    const before = await readMirror();
    const drained = applyUpdates({ api: clientOf(other), db: given().db, log }, { concurrency: 1, signal });
    await expect(drained).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
    expect(await readMirror()).toEqual(before);
    expect(other.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  test('a tracked commission is not marked deleted', async () => {
    await given().syncAll();
    const [commission] = await given().sandbox.allCommissions();
    await trackCommissions(given().db, [commission?.id ?? ''], null);
    const before = await readMirror();
    const polled = pollTracked({ client: clientOf(other), db: given().db, log }, { signal });
    await expect(polled).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' });
    expect(await readMirror()).toEqual(before);
  });
});
