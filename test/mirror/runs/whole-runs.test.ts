// What the run log says of a resource: whether all of it was ever read, since when, and what was refused.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { lastWholeRun, wasEverRead, wasRefusedSince } from '../../../src/mirror/runs/whole-runs.ts';
import { createTestDatabase } from '../../support/database.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

interface Ended {
  readonly resource?: string;
  readonly mode?: string;
  readonly state?: string;
  readonly verified?: boolean;
  readonly strategy?: 'full' | 'delta';
  readonly code?: string;
}

/** Returns the number of a run that has ended so. */
async function end(run: Ended = {}): Promise<number> {
  const { resource = 'referrals', mode = 'full', state = 'succeeded', verified = true, code = null } = run;
  const plan = run.strategy === undefined ? null : JSON.stringify({ strategy: run.strategy });
  const { rows } = await sql<{ id: number }>`
    insert into sync_runs (resource, mode, state, verified, plan, error_code, finished_at)
    values (${resource}, ${mode}, ${state}, ${verified}, ${plan}, ${code}, clock_timestamp())
    returning id`.execute(db);
  return rows[0]?.id ?? 0;
}

const UNVERIFIED = { state: 'partial', verified: false };

test.each<[string, Ended, boolean]>([
  ['a full run', {}, true],
  ['a delta that read everything', { mode: 'delta', strategy: 'full' }, true],
  ['a delta that read what changed', { mode: 'delta', strategy: 'delta' }, false],
  ['an unverified full run', UNVERIFIED, false],
  ['a full run of another resource', { resource: 'affiliates' }, false],
])('after %s, whether everything was ever read', async (_, run, expected) => {
  await end(run);
  expect(await wasEverRead(db, 'referrals')).toBe(expected);
});

test('the last run that read everything is the last one before the given one, verified', async () => {
  const before = (run: number) => lastWholeRun(db, { resource: 'referrals', before: run });
  const first = await end();
  expect(await before(first)).toBeNull();
  const whole = await end();
  const others = [UNVERIFIED, { mode: 'delta', strategy: 'delta' }, { resource: 'affiliates' }] as const;
  for (const run of others) await end(run);
  const last = await end();
  expect(await before(last)).toBe(whole);
  expect(await before(whole)).toBe(first);
  expect(await before(last + 1)).toBe(last);
});

test('a sync is refused where the program rejects it, and not where it fails otherwise, or did before', async () => {
  const read = async (resource: string, moment = sql`clock_timestamp() - interval '1 minute'`) => {
    const { rows } = await sql<{
      was: boolean;
    }>`select ${wasRefusedSince(sql`${resource}`, moment)} as was`.execute(db);
    return rows[0]?.was;
  };
  const failed = { resource: 'commissions', state: 'failed', verified: false };
  await end({ ...failed, code: 'API_UNAVAILABLE' });
  await end({ ...failed, resource: 'referrals', code: 'API_REJECTED' });
  await end({ resource: 'commissions' });
  expect(await read('commissions')).toBe(false);
  await end({ ...failed, code: 'API_REJECTED' });
  expect(await read('commissions')).toBe(true);
  expect(await read('commissions', sql`clock_timestamp()`)).toBe(false);
});
