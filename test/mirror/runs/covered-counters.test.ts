// What a delta compares: each affiliate's counters now with those at which its referrals were last covered.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import {
  noteCounters,
  readCounterChanges,
  replaceCounters,
} from '../../../src/mirror/runs/covered-counters.ts';
import { finishRun, type SyncRun, startRun } from '../../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../../support/database.ts';
import { buildAffiliate, buildReferral } from '../build-records.ts';
import { at, load } from '../load.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

const counters = (visitors: number, leads = 0, conversions = 0) => ({ visitors, leads, conversions });
type Affiliate = ReturnType<typeof buildAffiliate>;
let second = 0;

async function readAffiliates(...affiliates: readonly object[]): Promise<void> {
  second += 1;
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(second), records: affiliates }] });
}

/** Begins a run of the referrals, which notes the counters as they are. */
async function begin(): Promise<SyncRun> {
  const run = await startRun(db, { resource: 'referrals', mode: 'delta' });
  await noteCounters(db, run);
  return run;
}

async function end(run: SyncRun, { verified = true } = {}): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (verified) await replaceCounters(trx, run.id);
    const reason = verified ? null : 'unverified because …';
    await finishRun(trx, run, { verified, reason, rowsDeleted: 0, deletesHeldBack: 0 });
  });
}

/** As a run stores them that begins after what is older, and before what comes now. */
async function storeReferrals(
  affiliate: Affiliate,
  states: readonly string[],
  observedAt: string,
): Promise<void> {
  const records = states.map((conversion_state) => buildReferral({ affiliate, conversion_state }));
  await load(db, { resource: 'referrals', pages: [{ observedAt, records }] });
}

const LONG_AGO = '2020-01-01T00:00:00Z';
const LATER = '2090-01-01T00:00:00Z';

test('the last verified run says what was covered, whatever ran since', async () => {
  const affiliate = buildAffiliate();
  for (const [visitors, verified] of [
    [1, true],
    [2, true],
    [3, false],
  ] as const) {
    await readAffiliates({ ...affiliate, ...counters(visitors) });
    await end(await begin(), { verified });
  }
  await readAffiliates({ ...affiliate, ...counters(5) });
  const run = await begin();
  expect(await readCounterChanges(db, run.id)).toMatchObject([
    { covered: counters(2), current: counters(5) },
  ]);
});

test('new referrals explain what they add, also where no counter has moved; older and deleted ones do not', async () => {
  const [counted, uncounted] = [buildAffiliate(counters(3, 2, 1)), buildAffiliate(counters(0))];
  await readAffiliates(counted, uncounted);
  await storeReferrals(counted, ['conversion', 'visitor'], LONG_AGO);
  await sql`update referrals set _deleted_at = now() where conversion_state = 'visitor'`.execute(db);
  const run = await begin();
  await storeReferrals(counted, ['visitor', 'lead', 'conversion'], LATER);
  await storeReferrals(uncounted, ['visitor'], LATER);
  const changes = await readCounterChanges(db, run.id);
  expect(new Map(changes.map(({ affiliate_id, ...change }) => [affiliate_id, change]))).toEqual(
    new Map([
      [
        counted.id,
        { covered: counters(0), current: counters(3, 2, 1), explained: counters(3, 2, 1), rows: 4 },
      ],
      [uncounted.id, { covered: counters(0), current: counters(0), explained: counters(1), rows: 1 }],
    ]),
  );
});

test('counters that were read anew while the run went on are not taken for covered', async () => {
  const [changed, same] = [buildAffiliate(counters(1)), buildAffiliate(counters(1))];
  await readAffiliates(changed, same);
  await end(await begin());
  const run = await begin();
  await readAffiliates({ ...changed, ...counters(2) });
  await end(run);
  const { rows: left } = await sql`select * from covered_counters`.execute(db);
  expect(left).toMatchObject([{ affiliate_id: same.id, run_id: run.id }]);
});
