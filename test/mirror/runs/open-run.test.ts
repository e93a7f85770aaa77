// Which run a sync works on: the one that stopped short, where what it read is still worth something, or a new one.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { openRun } from '../../../src/mirror/runs/open-run.ts';
import { recordSkippedRun, saveProgress, startRun } from '../../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../../support/database.ts';
import { buildReferral } from '../build-records.ts';
import { at, load } from '../load.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

const resource = 'referrals' as const;
const FULL = { resource, mode: 'full' } as const;

/** Returns the number of a run that has loaded two records, as one that was killed leaves it. */
async function startKilled(): Promise<number> {
  const run = await startRun(db, FULL);
  const records = [buildReferral(), buildReferral()];
  const rows = await load(db, { resource, runId: run.id, pages: [{ observedAt: at(1), records }] });
  const progress = { requests: 3, pages: 1, rows, distinct: rows.fresh, totalUpstream: 9 };
  await saveProgress(db, run, { ...progress, checkpoint: { page: 2 } });
  return run.id;
}

const change = (id: number, assignments: string) =>
  sql`update sync_runs set ${sql.raw(assignments)} where id = ${id}`.execute(db);

async function countSeenRows(): Promise<number> {
  return (await db.selectFrom('seen_rows').selectAll().execute()).length;
}

test.each([
  ['is running by the run log', `state = 'running'`],
  ['failed', `state = 'failed', finished_at = now(), error_code = 'API_UNAVAILABLE', error = '503'`],
  ['was interrupted', `state = 'interrupted', finished_at = now()`],
  ['was last saved almost six hours ago', `heartbeat_at = now() - interval '359 minutes'`],
])('a run that %s goes on from its checkpoint, as another attempt', async (_, assignments) => {
  const id = await startKilled();
  await change(id, assignments);
  const { run } = await openRun(db, FULL);
  expect(run).toMatchObject({
    ...{ id, attempt: 2, state: 'running', checkpoint: { page: 2 }, distinct_seen: 2, requests: 3 },
    ...{ finished_at: null, error: null, error_code: null },
  });
  expect(await countSeenRows()).toBe(1);
});

const error = expect.stringMatching(/^its process ended without noting why/);
const GIVEN_UP = { state: 'interrupted', error, checkpoint: null, finished_at: expect.any(String) };

test.each([
  ['has another mode', `mode = 'delta'`, GIVEN_UP],
  ['succeeded', `state = 'succeeded', verified = true, finished_at = now()`, { state: 'succeeded' }],
  ['ended unverified', `state = 'partial', error = 'unverified', finished_at = now()`, { state: 'partial' }],
  ['stopped before its first batch', `checkpoint = null`, GIVEN_UP],
  ['was last saved more than six hours ago', `heartbeat_at = now() - interval '361 minutes'`, GIVEN_UP],
])('a run that %s is not taken up, and nothing of what it met is kept', async (_, assignments, left) => {
  const id = await startKilled();
  await change(id, assignments);
  const { run, doubt } = await openRun(db, FULL);
  expect(doubt).toBeNull();
  expect(run).toMatchObject({ attempt: 1, state: 'running', checkpoint: null, distinct_seen: 0 });
  expect(run.id).toBeGreaterThan(id);
  expect(await countSeenRows()).toBe(0);
  const old = await db.selectFrom('sync_runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  expect(old).toMatchObject(left);
});

test('a run that was not begun since another one was running hides none, and a later one of another resource neither', async () => {
  const id = await startKilled();
  await recordSkippedRun(db, { ...FULL, reason: 'another sync is running' });
  await startRun(db, { resource: 'affiliates', mode: 'full' });
  expect((await openRun(db, FULL)).run).toMatchObject({ id, attempt: 2 });
});

test('only the last run is taken up', async () => {
  const id = await startKilled();
  await change(id, `state = 'failed', finished_at = now()`);
  const later = await startRun(db, FULL);
  await change(later.id, `state = 'succeeded', verified = true, finished_at = now()`);
  expect((await openRun(db, FULL)).run.id).toBeGreaterThan(later.id);
});

test.each([
  ['a minute ago', `- interval '1 minute'`, false],
  ['three minutes ago', `- interval '3 minutes'`, true],
])('a run that began %s', async (_, when, isDoubted) => {
  const id = await startKilled();
  await change(id, `started_at = now() ${when}`);
  const { run, doubt } = await openRun(db, FULL);
  expect(run.id).toBe(id);
  expect(doubt).toEqual(isDoubted ? expect.stringContaining('more than 2 minutes old') : null);
});

test('a run whose seen rows are lost, as in a crash of Postgres, reads its list from the beginning, and its figures stay', async () => {
  const id = await startKilled();
  await sql`truncate seen_rows`.execute(db);
  const { run, doubt } = await openRun(db, FULL);
  expect(run).toMatchObject({
    id,
    attempt: 2,
    checkpoint: null,
    distinct_seen: 0,
    requests: 3,
    rows_seen: 2,
  });
  expect(doubt).toBeNull();
});
