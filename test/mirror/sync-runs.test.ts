import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { Busy } from '../../src/errors.ts';
import { makeDriftWatch } from '../../src/mirror/drift-watch.ts';
import { saveDrift } from '../../src/mirror/save-drift.ts';
import { countSeen } from '../../src/mirror/seen-ids.ts';
import { findRunningRun, finishRun, latestRuns, saveProgress, startRun } from '../../src/mirror/sync-runs.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildAffiliate, buildReferral } from './build-records.ts';
import { at, load } from './load.ts';

let db: Database;

beforeEach(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

const resource = 'referrals' as const;

test('a run adds up batch by batch, and ends without checkpoint and without seen ids', async () => {
  const run = await startRun(db, { resource, mode: 'full', plan: { expected: 3 } });
  expect(run).toMatchObject({ state: 'running', rows_seen: 0, plan: { expected: 3 }, finished_at: null });
  for (const second of [1, 2]) {
    const pages = [{ observedAt: at(second), records: [buildReferral(), buildReferral()] }];
    const rows = await load(db, { resource, runId: run.id, pages });
    const progress = { requests: 1, pages: 1, rows, distinct: rows.fresh, totalUpstream: 4 };
    await saveProgress(db, run.id, { ...progress, checkpoint: { page: second } });
  }
  expect(await findRunningRun(db, resource)).toMatchObject({
    id: run.id,
    rows_seen: 4,
    rows_inserted: 4,
    distinct_seen: 4,
    total_upstream: 4,
    requests: 2,
    checkpoint: { page: 2 },
  });
  expect(await countSeen(db, run.id)).toBe(4);
  const ended = await finishRun(db, run.id, { state: 'succeeded', verified: true });
  expect(ended).toMatchObject({ state: 'succeeded', verified: true, checkpoint: null });
  expect(ended.finished_at).not.toBeNull();
  expect(await countSeen(db, run.id)).toBe(0);
  expect(await findRunningRun(db, resource)).toBeUndefined();
});

test('a second run of a resource is refused while one is running, and another resource is not', async () => {
  const run = await startRun(db, { resource, mode: 'full' });
  await expect(startRun(db, { resource, mode: 'delta' })).rejects.toThrow(Busy);
  await startRun(db, { resource: 'affiliates', mode: 'full' });
  await finishRun(db, run.id, { state: 'failed', error: { code: 'API_UNAVAILABLE', message: '503' } });
  const next = await startRun(db, { resource, mode: 'full' });
  expect((await latestRuns(db, { resource, limit: 5 })).map(({ id, state }) => [id, state])).toEqual([
    [next.id, 'running'],
    [run.id, 'failed'],
  ]);
});

test('a run that has ended can neither advance nor end again', async () => {
  const run = await startRun(db, { resource, mode: 'full' });
  await finishRun(db, run.id, { state: 'interrupted' });
  await expect(finishRun(db, run.id, { state: 'succeeded', verified: true })).rejects.toThrow();
});

test('what drifted from the contract is stored once per run, field and kind', async () => {
  const drift = makeDriftWatch();
  const run = await startRun(db, { resource, mode: 'full' });
  const { visits: _, ...shorter } = buildReferral({
    vip: true,
    customer: { platform: 'stripe', id: 'c', name: null, email: null, shoe: { size: 43 } },
    affiliate: buildAffiliate({ badge: ['gold'] }),
  });
  const broken = buildReferral({ conversion_state: 7, visits: undefined });
  const { visits: __, ...retyped } = broken;
  await load(db, {
    resource,
    runId: run.id,
    drift,
    pages: [{ observedAt: at(1), records: [shorter, retyped] }],
  });
  await saveDrift(db, { runId: run.id, resource }, drift.findings());
  await saveDrift(db, { runId: run.id, resource }, drift.findings());
  const stored = await db.selectFrom('schema_drift').selectAll().orderBy('field').execute();
  const base = { run_id: run.id, resource, occurrences: 1 };
  expect(stored).toEqual([
    { ...base, field: 'affiliate.badge', kind: 'appeared', found: 'array' },
    { ...base, field: 'conversion_state', kind: 'retyped', found: 'number' },
    { ...base, field: 'customer.shoe', kind: 'appeared', found: 'object' },
    { ...base, field: 'vip', kind: 'appeared', found: 'boolean' },
    { ...base, field: 'visits', kind: 'vanished', found: null },
  ]);
});
