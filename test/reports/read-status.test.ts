// The status against a real database, whose run log each test fills.

import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { readStatus } from '../../src/reports/read-status.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
});

interface Run {
  readonly resource?: string;
  readonly mode?: string;
  readonly plan?: object;
  readonly state: string;
  readonly started_at?: string;
  readonly rows_rejected?: number;
  readonly deletes_held_back?: number;
  readonly error?: string;
}

async function addRun(run: Run): Promise<number> {
  const { rows } = await database.pool.query<{ id: number }>(
    `insert into sync_runs (resource, mode, state, started_at, finished_at, rows_seen, rows_rejected,
                            deletes_held_back, verified, error, error_code, plan)
     values ($1, $7, $2, $3, case when $2 <> 'running' then clock_timestamp() end, $4, $4, $5, $2 = 'succeeded',
             $6::text, case when $6::text is not null then 'API_UNREACHABLE' end, $8)
     returning id`,
    [
      run.resource ?? 'affiliates',
      run.state,
      run.started_at ?? '2026-01-01T00:00:00Z',
      run.rows_rejected ?? 0,
      run.deletes_held_back ?? 0,
      run.error ?? null,
      run.mode ?? 'full',
      run.plan ?? null,
    ],
  );
  return rows[0]?.id ?? -1;
}

test('a mirror that was never synced says so of each resource', async () => {
  const { resources, last_runs, schema_drift } = await readStatus(db);
  const never = {
    fresh_as_of: null,
    age_seconds: null,
    full_as_of: null,
    full_age_seconds: null,
    deltas_since_full: 0,
    last_state: null,
    rejected_records: 0,
    deletes_held_back: 0,
  };
  expect(resources).toEqual([
    { resource: 'affiliates', ...never },
    { resource: 'referrals', ...never },
  ]);
  expect(last_runs).toEqual([]);
  expect(schema_drift).toEqual([]);
});

test('freshness is the start of the last run that succeeded, whatever came after it', async () => {
  await addRun({ state: 'succeeded', started_at: '2026-01-01T00:00:00Z' });
  await addRun({ state: 'succeeded', started_at: '2026-01-02T00:00:00Z', rows_rejected: 2 });
  await addRun({
    state: 'partial',
    started_at: '2026-01-03T00:00:00Z',
    rows_rejected: 5,
    deletes_held_back: 7,
  });
  await addRun({ state: 'failed', started_at: '2026-01-04T00:00:00Z', error: 'the program was down' });
  const { resources, last_runs } = await readStatus(db);
  expect(resources[0]).toEqual({
    resource: 'affiliates',
    fresh_as_of: '2026-01-02T00:00:00Z',
    age_seconds: expect.any(Number),
    full_as_of: '2026-01-02T00:00:00Z',
    full_age_seconds: expect.any(Number),
    deltas_since_full: 0,
    last_state: 'failed',
    rejected_records: 5,
    deletes_held_back: 7,
  });
  expect(last_runs.map((run) => run.state)).toEqual(['failed', 'partial', 'succeeded', 'succeeded']);
  expect(last_runs[0]).toMatchObject({ error: 'the program was down', error_code: 'API_UNREACHABLE' });
});

test('a delta makes referrals fresher, yet hides neither when all were last read nor what that run held back', async () => {
  const resource = 'referrals';
  const full = await addRun({
    resource,
    state: 'succeeded',
    started_at: '2026-01-01T00:00:00Z',
    rows_rejected: 3,
    deletes_held_back: 12,
  });
  await database.pool.query(
    `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, 'referrals', 'tier', 'appeared', 3)`,
    [full],
  );
  const delta = { resource, mode: 'delta', state: 'succeeded', plan: { strategy: 'delta' } };
  await addRun({ ...delta, started_at: '2026-01-02T00:00:00Z' });
  await addRun({ ...delta, started_at: '2026-01-03T00:00:00Z', rows_rejected: 1 });
  const before = await readStatus(db);
  expect(before.resources[1]).toMatchObject({
    fresh_as_of: '2026-01-03T00:00:00Z',
    full_as_of: '2026-01-01T00:00:00Z',
    deltas_since_full: 2,
    rejected_records: 3,
    deletes_held_back: 12,
  });
  expect(before.schema_drift).toMatchObject([{ run_id: full, field: 'tier' }]);

  await addRun({ ...delta, plan: { strategy: 'full' }, started_at: '2026-01-04T00:00:00Z' });
  const after = await readStatus(db);
  expect(after.resources[1]).toMatchObject({
    full_as_of: '2026-01-04T00:00:00Z',
    deltas_since_full: 0,
    rejected_records: 0,
    deletes_held_back: 0,
  });
  expect(after.schema_drift).toEqual([]);
});

test('a delta of affiliates reads all of them', async () => {
  await addRun({ mode: 'delta', state: 'succeeded', started_at: '2026-01-02T00:00:00Z' });
  expect((await readStatus(db)).resources[0]).toMatchObject({
    full_as_of: '2026-01-02T00:00:00Z',
    deltas_since_full: 0,
  });
});

test('the age is counted from then to now, in seconds, by the clock of the database', async () => {
  const { rows } = await database.pool.query<{ then: string }>(
    `select now() - interval '90 seconds' as then`,
  );
  await addRun({ resource: 'referrals', state: 'succeeded', started_at: rows[0]?.then ?? '' });
  const { resources } = await readStatus(db);
  expect(resources[1]?.age_seconds).toBeGreaterThanOrEqual(90);
  expect(resources[1]?.age_seconds).toBeLessThan(120);
});

test('rows that are gone upstream are counted apart', async () => {
  await database.pool.query(
    `insert into links (id, _first_seen_at, _changed_at, _observed_at, _deleted_at)
     select n::text, now(), now(), now(), case when n <= 2 then now() end from generate_series(1, 5) as n`,
  );
  const { tables } = await readStatus(db);
  expect(tables.find(({ table_name }) => table_name === 'links')).toEqual({
    table_name: 'links',
    rows: 3,
    deleted: 2,
  });
});

test('drift is that of the last run that came to its end', async () => {
  const drifts = async (run: number, field: string) =>
    await database.pool.query(
      `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, 'affiliates', $2, 'appeared', 3)`,
      [run, field],
    );
  await drifts(await addRun({ state: 'succeeded' }), 'long_gone');
  const last = await addRun({ state: 'partial' });
  await drifts(last, 'nickname');
  await addRun({ state: 'failed' });
  const { schema_drift } = await readStatus(db);
  expect(schema_drift).toEqual([
    {
      run_id: last,
      resource: 'affiliates',
      field: 'nickname',
      kind: 'appeared',
      found: null,
      occurrences: 3,
    },
  ]);
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
  expect((await readStatus(db)).budget).toEqual({
    used_requests: 1,
    foreign_requests: 4,
    limit_requests: 30,
    paused_until: expect.any(String),
    last_throttled_at: '2026-01-01T00:00:00Z',
  });
  await database.pool.query(
    `update request_budget set foreign_until = now(), limit_until = now(), paused_until = now() - interval '1 second'`,
  );
  expect((await readStatus(db)).budget).toMatchObject({
    foreign_requests: 0,
    limit_requests: null,
    paused_until: null,
  });
});
