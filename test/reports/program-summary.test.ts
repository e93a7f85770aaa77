// A program in a line: from made-up figures, and of two real schemas in one database.

import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readProgramSummary, summarize, worstFirst } from '../../src/reports/program-summary.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { addNeighbour } from '../support/neighbours.ts';
import { type GivenHealth, makeHealth, THEN } from './make-health.ts';

const OPTIONS = { maxAgeSeconds: 26 * 3600, program: 'acme' };
const NEVER = {
  changes_as_of: null,
  changes_age_seconds: null,
  last_run_state: null,
  last_run_verified: null,
};

const sum = (given: GivenHealth = {}) => summarize(makeHealth(given), OPTIONS);

test('well: the age is that of the oldest resource', () => {
  const older = {
    resource: 'affiliates',
    changes_as_of: '2026-01-01T00:00:00Z',
    changes_age_seconds: 90_000,
  };
  expect(sum({ resources: [{}, older] })).toEqual({
    state: 'ok',
    concern: null,
    concerns: 0,
    resources: [
      { resource: 'referrals', as_of: THEN },
      { resource: 'affiliates', as_of: '2026-01-01T00:00:00Z' },
    ],
    as_of: '2026-01-01T00:00:00Z',
    age_seconds: 90_000,
    running: [],
    payments_waiting: 0,
    payments_needing_attention: 0,
    last_error_code: null,
  });
});

test('what waits for a user is a warning, a fault is not, and the worst is named', () => {
  const paused = { paused_until: '2026-01-02T00:05:00Z', last_throttled_at: THEN };
  expect(sum({ budget: paused })).toMatchObject({ state: 'warning', concern: { code: 'throttled' } });
  const failed = { last_run_state: 'failed', last_run_error_code: 'API_UNREACHABLE' } as const;
  expect(sum({ budget: paused, resources: [failed] })).toMatchObject({
    state: 'failing',
    concerns: 2,
    concern: { code: 'sync_failed', fix: 'affiliate-mirror doctor --program acme' },
    last_error_code: 'API_UNREACHABLE',
  });
});

test('one resource that was never synced makes the age of all unknown', () => {
  expect(sum({ resources: [{}, { ...NEVER, resource: 'affiliates' }] })).toMatchObject({
    state: 'warning',
    as_of: null,
    age_seconds: null,
  });
});

test('payments: those that wait, and those of any state that need attention', () => {
  const states = [
    { state: 'pending', requests: 7, needing_attention: 2 },
    { state: 'failed', requests: 3, needing_attention: 1 },
    { state: 'conflict', requests: 4, needing_attention: 3 },
    { state: 'applied', requests: 900, needing_attention: 0 },
  ] as const;
  expect(sum({ payments: { states } })).toMatchObject({
    payments_waiting: 7,
    payments_needing_attention: 6,
  });
});

test('the worst come first: unread, by state, by kind, by start, by name', () => {
  const failedAt = (failing_since: string) =>
    sum({ resources: [{ last_run_state: 'failed', failing_since }] });
  const refused = sum({ worker: { secret_refused_since: THEN, program_changed_since: null } });
  const differs = sum({ differences: 3 });
  const programs = Object.entries({
    well: sum(),
    also: sum(),
    pausing: sum({ budget: { paused_until: THEN } }),
    late: failedAt('2026-01-03T00:00:00Z'),
    early: failedAt('2026-01-01T00:00:00Z'),
    differs,
    refused,
    unread: null,
  }).map(([name, summary]) => ({ name, summary }));
  expect(worstFirst(programs).map(({ name }) => name)).toEqual([
    'unread',
    'refused',
    'early',
    'late',
    'differs',
    'pausing',
    'also',
    'well',
  ]);
});

describe('of two schemas', () => {
  let database: TestDatabase;
  let other: Database;

  beforeAll(async () => {
    database = await createTestDatabase();
    other = (await addNeighbour(database, 'mirror_other')).db;
  });

  const read = async () => ({
    one: await readProgramSummary({ db: database.db, mirrorSchema: 'mirror' }, OPTIONS),
    other: await readProgramSummary({ db: other, mirrorSchema: 'mirror_other' }, OPTIONS),
  });

  test('each is its own, read over one connection', async () => {
    await database.pool.query(
      `insert into sync_runs (resource, mode, state, verified, started_at, finished_at)
       select resource, 'full', 'succeeded', true, now() - interval '1 hour', now()
       from unnest('{affiliates,referrals}'::text[]) resource`,
    );
    await database.pool.query(
      `insert into commission_updates (commission_id, action, paid_at) values ('00000000-0000-4000-8000-000000000001', 'pay', now())`,
    );
    let acquired = 0;
    const { connect } = database.pool;
    Object.assign(database.pool, {
      connect: () => {
        acquired += 1;
        return connect();
      },
    });
    const found = await read();
    expect(acquired).toBe(1);
    expect(found).toMatchObject({
      one: { state: 'ok', running: [], payments_waiting: 1, age_seconds: expect.any(Number) },
      other: { state: 'warning', concern: { code: 'never_synced' }, payments_waiting: 0, as_of: null },
    });
  });

  test('a running sync is named', async () => {
    await sql`insert into sync_runs (resource, mode) values ('referrals', 'full')`.execute(other);
    expect((await read()).other).toMatchObject({ running: ['referrals'], last_error_code: null });
  });
});
