// Which syncs are due, by the run log and the database's clock: each resource once after each tick.

import { beforeEach, expect, test } from 'vitest';
import { makeApiClient } from '../../../src/api/client.ts';
import { makeLogger } from '../../../src/base/log.ts';
import type { ProgramConfig } from '../../../src/config/config.ts';
import type { Database } from '../../../src/db/database.ts';
import { withLock } from '../../../src/db/locks/process-session.ts';
import { TIMINGS } from '../../../src/worker/queue/timings.ts';
import { makeSchedules, makeSyncSource } from '../../../src/worker/sources/sync-job.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeUnlimitedPermits } from '../../support/unlimited-permits.ts';

const log = makeLogger('fatal');
const NIGHTLY = { full: '0 2 * * *', delta: null, timezone: 'UTC' };
const BOTH = { full: '0 2 * * *', delta: '*/15 * * * *', timezone: 'UTC' };
/** A night in the past. */
const at = (time: string) => Date.parse(`2026-01-05T${time}Z`);

let pool: TestDatabase['pool'];
let db: Database;

beforeEach(async () => {
  ({ db, pool } = await createTestDatabase());
});

async function note(
  resource: string,
  { mode = 'full', state = 'succeeded', attempt = 1, ended = '02:30:00', began = '' } = {},
): Promise<void> {
  await pool.query(
    `insert into sync_runs (resource, mode, state, attempt, verified, started_at, finished_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [resource, mode, state, attempt, state === 'succeeded', iso(began || ended), iso(ended)],
  );
}

const iso = (time: string) => new Date(at(time)).toISOString();

/** Holds a deletion back that is accepted at that time of the night. */
async function accept(resource: string, time: string): Promise<void> {
  await pool.query(
    `insert into held_back_deletions (resource, record_id, run_id, accepted_at, accepted_by)
     values ($1, $2, 1, $3, 'ann')`,
    [resource, time, iso(time)],
  );
}

/** Returns the identifiers of what is due at that time of the night, in order. */
async function due(
  time: string,
  schedules: ProgramConfig['schedules'] = NIGHTLY,
  madeMs = 0,
): Promise<string[]> {
  const { takePermit } = makeUnlimitedPermits();
  const api = makeApiClient({ takePermit, log }, { url: 'http://127.0.0.1:9', secret: 'x', timeoutMs: 1000 });
  const duty = makeSyncSource({ api, db, log }, { schedules: makeSchedules(schedules) }, TIMINGS);
  const found = await duty.findDue({ db, nowMs: at(time), madeMs });
  await api.close();
  return found.map(({ id }) =>
    id.replace(/-(\d+)$/, (_, atMs) => ` ${new Date(Number(atMs)).toISOString().slice(11, 16)}`),
  );
}

test('after its tick, affiliates are due before referrals, and each until it was synced', async () => {
  expect(await due('02:00:00')).toEqual(['sync-affiliates-full 02:00', 'sync-referrals-full 02:00']);
  await note('affiliates');
  expect(await due('03:00:00')).toEqual(['sync-referrals-full 02:00']);
  await note('referrals');
  expect(await due('23:59:00')).toEqual([]);
});

test('full comes before delta, and does for it', async () => {
  expect(await due('02:01:00', BOTH)).toEqual([
    'sync-affiliates-full 02:00',
    'sync-referrals-full 02:00',
    'sync-affiliates-delta 02:00',
    'sync-referrals-delta 02:00',
  ]);
  await note('affiliates', { ended: '02:05:00' });
  await note('referrals', { ended: '02:50:00' });
  expect(await due('02:51:00', BOTH)).toEqual(['sync-affiliates-delta 02:45']);
  await note('affiliates', { mode: 'delta', ended: '02:52:00' });
  expect(await due('02:53:00', BOTH)).toEqual([]);
  expect(await due('03:00:00', BOTH)).toEqual(['sync-affiliates-delta 03:00', 'sync-referrals-delta 03:00']);
});

test.each([
  ['a delta, for a full one', { mode: 'delta' }],
  ['a run that failed', { state: 'failed' }],
  ['a run that was interrupted', { state: 'interrupted' }],
  ['a run that was skipped', { state: 'skipped' }],
  ['a run that ended before the tick', { ended: '01:59:59' }],
  ['a run that was resumed, and ended unverified', { state: 'partial', attempt: 2 }],
])('%s does not count', async (_what, run) => {
  await note('affiliates', run);
  expect(await due('03:00:00')).toContain('sync-affiliates-full 02:00');
});

test.each([
  ['a run that ended unverified, though it read everything at once', { state: 'partial' }],
  ['a run that was resumed, and is verified', { attempt: 3 }],
])('%s counts', async (_what, run) => {
  await note('affiliates', run);
  expect(await due('03:00:00')).not.toContain('sync-affiliates-full 02:00');
});

test('a delta of referrals that began before affiliates were synced is due again, once, and a full sync is not', async () => {
  const delta = { mode: 'delta' };
  await note('affiliates', { ended: '02:05:00' });
  await note('referrals', { ended: '02:10:00' });
  // Affiliates fail.
  await note('referrals', { ...delta, began: '02:45:05', ended: '02:47:00' });
  expect(await due('02:48:00', BOTH)).toEqual(['sync-affiliates-delta 02:45']);
  await note('affiliates', { ...delta, began: '02:45:00', ended: '02:46:00' });
  expect(await due('02:48:00', BOTH)).toEqual(['sync-referrals-delta 02:45']);
  await note('referrals', { ...delta, began: '02:49:00', ended: '02:50:00' });
  // One that somebody asked for.
  await note('affiliates', { ...delta, ended: '02:51:00' });
  expect(await due('02:52:00', BOTH)).toEqual([]);
  await note('referrals', { began: '03:00:01', ended: '03:05:00' });
  await note('affiliates', { ...delta, ended: '03:06:00' });
  expect(await due('03:07:00', BOTH)).toEqual([]);
});

test('accepted deletions make a full sync due, until one has ended that began after they were accepted', async () => {
  const acceptedDue = async () => (await due('04:00:00')).filter((id) => id.includes('accepted'));
  await note('affiliates', { state: 'partial', began: '02:00:00', ended: '02:05:00' });
  await accept('affiliates', '02:10:00');
  expect(await acceptedDue()).toEqual(['sync-affiliates-accepted 02:10']);
  // It may have looked up what is accepted before that.
  await note('affiliates', { state: 'partial', began: '02:09:00', ended: '02:30:00' });
  expect(await acceptedDue()).toEqual(['sync-affiliates-accepted 02:10']);
  await note('affiliates', { mode: 'delta', began: '02:31:00', ended: '02:32:00' });
  await note('affiliates', { state: 'failed', began: '02:33:00', ended: '02:34:00' });
  await note('referrals', { began: '02:35:00', ended: '02:36:00' });
  expect(await acceptedDue()).toEqual(['sync-affiliates-accepted 02:10']);
  // It may hold them back again; another run would too.
  await note('affiliates', { state: 'partial', began: '02:40:00', ended: '02:45:00' });
  expect(await acceptedDue()).toEqual([]);
  await accept('affiliates', '02:41:00');
  expect(await acceptedDue()).toEqual(['sync-affiliates-accepted 02:41']);
  await note('affiliates', { began: '02:50:00', ended: '02:55:00' });
  expect(await acceptedDue()).toEqual([]);
});

test('a sync that another process does is looked at after 15 s, then ever later, and never after more than ten minutes', async () => {
  const ended: string[] = [];
  const meter = { ended: ({ state }: { state: string }) => ended.push(state), progressed: () => {} };
  const { takePermit } = makeUnlimitedPermits();
  const api = makeApiClient({ takePermit, log }, { url: 'http://127.0.0.1:9', secret: 'x', timeoutMs: 1000 });
  const duty = makeSyncSource({ api, db, log, meter }, { schedules: makeSchedules(NIGHTLY) }, TIMINGS);
  const [affiliates] = await duty.findDue({ db, nowMs: at('03:00:00'), madeMs: 0 });
  const { signal } = new AbortController();
  await withLock(db, 'run of affiliates in', async () => {
    for (const [waitedMs, waitMs] of [
      [0, 15_000],
      [30_001, 15_000.5],
      [200_000, 100_000],
      [7_200_000, 600_000],
    ] as const) {
      const outcome = await affiliates?.run({ signal, waitedMs });
      expect(outcome, `waited ${waitedMs}`).toEqual({ kind: 'later', waitMs });
    }
  });
  expect(ended).toEqual(['skipped', 'skipped', 'skipped', 'skipped']);
  await api.close();
});
