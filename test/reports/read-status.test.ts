// The status against a real database, whose run log each test fills.

import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { acceptHeldBack, saveHeldBack } from '../../src/mirror/held-back.ts';
import type { Reader } from '../../src/reports/figure.ts';
import { readStatus } from '../../src/reports/read-status.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
let reader: Reader;

beforeEach(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  reader = { db, mirrorSchema: 'mirror' };
});

interface Run {
  readonly resource?: string;
  readonly mode?: string;
  readonly plan?: object;
  readonly state: string;
  readonly started_at?: string;
  readonly rows_rejected?: number;
  /** How many deletions a verified run held back; where given, they replace those of earlier runs. */
  readonly held_back?: number;
  readonly error?: string;
}

async function addRun(run: Run): Promise<number> {
  const { rows } = await database.pool.query<{ id: number }>(
    `insert into sync_runs (resource, mode, state, started_at, finished_at, rows_seen, rows_rejected,
                            deletes_held_back, verified, error, error_code, plan)
     values ($1, $7, $2, $3, case when $2 <> 'running' then clock_timestamp() end, $4, $4, $5::int, $2 = 'succeeded' or $5::int > 0,
             $6::text, case when $6::text is not null then 'API_UNREACHABLE' end, $8)
     returning id`,
    [
      run.resource ?? 'affiliates',
      run.state,
      run.started_at ?? '2026-01-01T00:00:00Z',
      run.rows_rejected ?? 0,
      run.held_back ?? 0,
      run.error ?? null,
      run.mode ?? 'full',
      run.plan ?? null,
    ],
  );
  const runId = rows[0]?.id ?? -1;
  if (run.held_back !== undefined) {
    const ids = Array.from({ length: run.held_back }, (_, index) => `gone-${index}`);
    const resource = run.resource === 'referrals' ? 'referrals' : 'affiliates';
    await transact(db, (trx) => saveHeldBack(trx, { runId, resource }, ids));
  }
  return runId;
}

test('freshness is the start of the last verified run, whatever it held back and whatever came after it', async () => {
  await addRun({ state: 'succeeded', started_at: '2026-01-01T00:00:00Z' });
  await addRun({ state: 'partial', started_at: '2026-01-02T00:00:00Z', rows_rejected: 2, held_back: 7 });
  await addRun({ state: 'partial', started_at: '2026-01-03T00:00:00Z', rows_rejected: 5 });
  await addRun({ state: 'failed', started_at: '2026-01-04T00:00:00Z', error: 'the program was down' });
  const { resources, last_runs } = await readStatus(reader);
  expect(resources[0]).toEqual({
    resource: 'affiliates',
    changes_as_of: '2026-01-02T00:00:00Z',
    changes_age_seconds: expect.any(Number),
    everything_as_of: '2026-01-02T00:00:00Z',
    everything_age_seconds: expect.any(Number),
    deltas_since_everything: 0,
    not_covered:
      'records that could not be stored: 5; rows that seem to be gone from the affiliate program, and are not marked deleted: 7',
    last_run_id: expect.any(Number),
    last_run_state: 'failed',
    last_run_verified: false,
    last_run_error_code: 'API_UNREACHABLE',
    last_run_error: 'the program was down',
    last_run_finished_at: expect.any(String),
    last_run_saved_at: expect.any(String),
    last_run_saved_age_seconds: expect.any(Number),
    failing_since: expect.any(String),
    unverified_since: expect.any(String),
    last_run_unanswered_seconds: null,
    last_run_unanswered_attempt: null,
    rejected_records: 5,
    rejected_since: '2026-01-03T00:00:00Z',
    deletions_held_back: 7,
    deletions_held_back_since: expect.any(String),
    deletions_accepted: 0,
  });
  expect(last_runs.map((run) => run.state)).toEqual(['failed', 'partial', 'partial', 'succeeded']);
  expect(last_runs[0]).toMatchObject({ error: 'the program was down', error_code: 'API_UNREACHABLE' });
});

test('a delta makes referrals fresher, yet hides neither when all were last read nor what that run held back', async () => {
  const resource = 'referrals';
  const full = await addRun({
    resource,
    state: 'partial',
    started_at: '2026-01-01T00:00:00Z',
    rows_rejected: 3,
    held_back: 12,
  });
  await database.pool.query(
    `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, 'referrals', 'tier', 'appeared', 3)`,
    [full],
  );
  const delta = { resource, mode: 'delta', state: 'succeeded', plan: { strategy: 'delta' } };
  await addRun({ ...delta, started_at: '2026-01-02T00:00:00Z' });
  await addRun({ ...delta, started_at: '2026-01-03T00:00:00Z', rows_rejected: 1 });
  const before = await readStatus(reader);
  expect(before.resources[1]).toMatchObject({
    changes_as_of: '2026-01-03T00:00:00Z',
    everything_as_of: '2026-01-01T00:00:00Z',
    deltas_since_everything: 2,
    rejected_records: 3,
    deletions_held_back: 12,
  });
  expect(before.schema_drift).toMatchObject([{ run_id: full, field: 'tier' }]);

  const accepted = { resource: 'referrals', acceptedBy: 'somebody' } as const;
  expect(await transact(db, (trx) => acceptHeldBack(trx, accepted))).toBe(12);
  expect((await readStatus(reader)).resources[1]).toMatchObject({
    deletions_held_back: 12,
    deletions_held_back_since: null,
    deletions_accepted: 12,
  });

  await addRun({ ...delta, plan: { strategy: 'full' }, started_at: '2026-01-04T00:00:00Z', held_back: 0 });
  const after = await readStatus(reader);
  expect(after.resources[1]).toMatchObject({
    everything_as_of: '2026-01-04T00:00:00Z',
    deltas_since_everything: 0,
    rejected_records: 0,
    deletions_held_back: 0,
  });
  expect(after.schema_drift).toEqual([]);
});

test('the budget shows what counts now, and a pause only while it lasts', async () => {
  await database.pool.query(
    `insert into request_permits (priority, granted_at, expires_at)
     values ('reads', now(), now() + interval '1 minute'), ('payments', now(), now() - interval '1 second')`,
  );
  await database.pool.query(
    `update request_budget set limit_requests = 30, limit_until = now() + interval '1 minute', foreign_requests = 4,
       foreign_until = now() + interval '1 minute', paused_until = now() + interval '1 minute', last_throttled_at = '2026-01-01T00:00:00Z'`,
  );
  expect((await readStatus(reader)).budget).toEqual({
    used_requests: 1,
    foreign_requests: 4,
    limit_requests: 30,
    paused_until: expect.any(String),
    last_throttled_at: '2026-01-01T00:00:00Z',
  });
  await database.pool.query(
    `update request_budget set foreign_until = now(), limit_until = now(), paused_until = now() - interval '1 second'`,
  );
  expect((await readStatus(reader)).budget).toMatchObject({
    foreign_requests: 0,
    limit_requests: null,
    paused_until: null,
  });
});

test('the last run is the last one that was not left to another process', async () => {
  await addRun({ state: 'failed', error: 'the program was down' });
  await addRun({ state: 'skipped' });
  expect((await readStatus(reader)).resources[0]).toMatchObject({
    last_run_state: 'failed',
    last_run_error: 'the program was down',
  });
});

const COMMISSION = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const OTHER = '5f1d1a52-7f0c-4b6e-8a53-2f4e9d0c7b22';

async function ask(commission: string, batch: string): Promise<number> {
  const { rows } = await database.pool.query<{ id: number }>(
    `insert into commission_updates (commission_id, batch_id, action) values ($1, $2, 'unpay') returning id`,
    [commission, batch],
  );
  return rows[0]?.id ?? -1;
}

async function set(id: number, assignments: string): Promise<void> {
  await database.pool.query(`update commission_updates set ${assignments} where id = $1`, [id]);
}

test('a payment has failed until its commission has a newer request for the same value, which was not dropped', async () => {
  const fail = (id: number) =>
    set(id, `state = 'failed', outcome = 'refused', finished_at = '2026-01-01T00:00:00Z'`);
  const dropAs = (id: number, state: string) =>
    set(id, `state = '${state}', outcome = 'so', finished_at = now()`);
  const failures = async () => (await readStatus(reader)).payments.failed;
  await fail(await ask(COMMISSION, 'october'));
  expect((await readStatus(reader)).payments).toMatchObject({
    failed: 1,
    failed_since: '2026-01-01T00:00:00Z',
  });

  const due = await database.pool.query<{ id: number }>(
    `insert into commission_updates (commission_id, action, due_at) values ($1, 'due', now()) returning id`,
    [COMMISSION],
  );
  expect(await failures()).toBe(1);
  await fail(due.rows[0]?.id ?? 0);
  expect(await failures()).toBe(2);

  const superseded = await ask(COMMISSION, 'november');
  expect(await failures()).toBe(1);
  const cancelled = await ask(COMMISSION, 'november');
  await dropAs(superseded, 'superseded');
  expect(await failures()).toBe(1);
  await dropAs(cancelled, 'cancelled');
  expect(await failures()).toBe(2);

  await ask(COMMISSION, 'december');
  expect(await failures()).toBe(1);
});

test('a payment is neglected when it is due for minutes and no process works on any', async () => {
  const first = await ask(COMMISSION, 'october');
  const behind = await ask(COMMISSION, 'october');
  const other = await ask(OTHER, 'october');
  expect((await readStatus(reader)).payments.neglected).toBe(0);

  const long = `next_attempt_at = '2026-01-01T00:00:00Z'`;
  for (const id of [first, behind, other]) await set(id, long);
  // The second one for a commission waits for the first, whoever works.
  expect((await readStatus(reader)).payments).toMatchObject({
    neglected: 2,
    neglected_since: '2026-01-01T00:00:00Z',
  });
  await set(first, `claimed_by = 'a worker', claimed_until = now() + interval '1 minute'`);
  expect((await readStatus(reader)).payments.neglected).toBe(0);
  // Its worker was killed.
  await set(first, `claimed_until = now() - interval '1 minute'`);
  expect((await readStatus(reader)).payments.neglected).toBe(2);
});

test('a payment that waits for a program which is down is not neglected while a worker tries it again and again', async () => {
  const id = await ask(COMMISSION, 'october');
  await set(id, `next_attempt_at = now() - interval '1 hour'`);
  const triedBefore = (ago: string) =>
    database.pool.query(
      `insert into commission_update_attempts (update_id, method, sent_at, error_code)
       values ($1, 'GET', now() - $2::interval, 'API_UNREACHABLE')`,
      [id, ago],
    );
  await triedBefore('6 minutes');
  expect((await readStatus(reader)).payments.neglected).toBe(1);
  await triedBefore('1 minute');
  expect((await readStatus(reader)).payments.neglected).toBe(0);
});
