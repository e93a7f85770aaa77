import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { Busy } from '../../../src/base/errors.ts';
import type { Database } from '../../../src/db/database.ts';
import { noteCounters } from '../../../src/mirror/runs/covered-counters.ts';
import { openRun, restartWalk } from '../../../src/mirror/runs/open-run.ts';
import { readSeenRows } from '../../../src/mirror/runs/seen-rows.ts';
import {
  finishRun,
  holdRun,
  type RunEnd,
  type SyncRun,
  saveDrift,
  savePlan,
  saveProgress,
  startRun,
  stopRun,
} from '../../../src/mirror/runs/sync-runs.ts';
import { countWaiting } from '../../support/count-waiting.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { buildAffiliate, buildReferral } from '../build-records.ts';
import { at, load } from '../load.ts';

let pool: TestDatabase['pool'];
let db: Database;

beforeEach(async () => {
  ({ db, pool } = await createTestDatabase());
});

const resource = 'referrals' as const;
const NONE = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };
const PROGRESS = { requests: 1, pages: 1, rows: NONE, distinct: 0, totalUpstream: 4 };
const END = { verified: true, reason: null, rowsDeleted: 0, deletesHeldBack: 0 };

function finish(run: SyncRun, end: RunEnd = END): Promise<SyncRun> {
  return db.transaction().execute((trx) => finishRun(trx, run, end));
}

/** Of the rows in the mirror, those that the run has met as a resumed one would know it. */
async function countSeen(run: SyncRun): Promise<number> {
  const seen = await readSeenRows(db, run.id);
  const { rows } = await sql<{ _row_number: number }>`select _row_number from ${sql.table(resource)}`.execute(
    db,
  );
  return rows.filter((row) => seen.has(row._row_number)).length;
}

function readRuns() {
  return db.selectFrom('sync_runs').selectAll().where('resource', '=', resource).orderBy('id').execute();
}

test('a batch, taking a run up and its end each say that it is alive', async () => {
  const steps = [
    (run: SyncRun) => saveProgress(db, run, { ...PROGRESS, checkpoint: { page: 1 } }),
    async () => (await openRun(db, { resource, mode: 'full' })).run,
    (run: SyncRun) => finish(run),
  ];
  let run = await startRun(db, { resource, mode: 'full' });
  for (const step of steps) {
    await sql`update sync_runs set heartbeat_at = heartbeat_at - interval '1 hour'`.execute(db);
    run = await step(run);
    const { rows } = await sql`
      select from sync_runs where id = ${run.id} and heartbeat_at > clock_timestamp() - interval '50 minutes'`.execute(
      db,
    );
    expect(rows).toHaveLength(1);
  }
  expect(run).toMatchObject({ attempt: 2, state: 'succeeded' });
});

test('a second run of a resource is refused while one is running, and another resource is not', async () => {
  const run = await startRun(db, { resource, mode: 'full' });
  await expect(startRun(db, { resource, mode: 'delta' })).rejects.toThrow(Busy);
  await startRun(db, { resource: 'affiliates', mode: 'full' });
  await saveProgress(db, run, { ...PROGRESS, checkpoint: { page: 1 } });
  const stop = { state: 'failed', code: 'API_UNAVAILABLE', message: '503', requests: 2 } as const;
  expect(await stopRun(db, run, stop)).toMatchObject({ requests: 3, checkpoint: { page: 1 } });
  const next = await startRun(db, { resource, mode: 'full' });
  expect((await readRuns()).map(({ id, state }) => [id, state])).toEqual([
    [run.id, 'failed'],
    [next.id, 'running'],
  ]);
});

test('a run that has ended does not end again, and neither does one that another process has taken over', async () => {
  const run = await startRun(db, { resource, mode: 'full' });
  await db.updateTable('sync_runs').set({ attempt: 2 }).where('id', '=', run.id).execute();
  await expect(finish(run)).rejects.toThrow(Busy);
  expect(
    await finish({ ...run, attempt: 2 }, { ...END, verified: false, reason: 'unverified because …' }),
  ).toMatchObject({
    state: 'partial',
    verified: false,
    error: 'unverified because …',
  });
  await expect(finish({ ...run, attempt: 2 })).rejects.toThrow(Busy);
});

test('a process whose run another has taken over changes nothing of it, neither its counters nor its plan', async () => {
  const run = await startRun(db, { resource, mode: 'delta' });
  await load(db, {
    resource: 'affiliates',
    pages: [{ observedAt: at(1), records: [buildAffiliate()] }],
  });
  await savePlan(db, run, { strategy: 'full' });
  const rows = await load(db, {
    resource,
    runId: run.id,
    pages: [{ observedAt: at(1), records: [buildReferral()] }],
  });
  const progress = { requests: 1, pages: 1, rows, distinct: rows.fresh, totalUpstream: 1, checkpoint: {} };
  await saveProgress(db, run, progress);
  const { run: taken } = await openRun(db, { resource, mode: 'delta' });
  expect(taken).toMatchObject({ id: run.id, attempt: 2 });
  await expect(noteCounters(db, run)).rejects.toThrow(Busy);
  await expect(savePlan(db, run, { strategy: 'delta' })).rejects.toThrow(Busy);
  await expect(restartWalk(db, run)).rejects.toThrow(Busy);
  expect((await sql`select * from covered_counters`.execute(db)).rows).toEqual([]);
  expect(await readRuns()).toEqual([taken]);
  expect(await countSeen(run)).toBe(1);

  await noteCounters(db, taken);
  expect((await sql`select * from covered_counters`.execute(db)).rows).toHaveLength(1);
  await savePlan(db, taken, { strategy: 'delta' });
  expect(await restartWalk(db, taken)).toMatchObject({ distinct_seen: 0, plan: { strategy: 'delta' } });
  expect(await countSeen(run)).toBe(0);
});

test('a run is not taken over while its process writes beside it', async () => {
  const run = await startRun(db, { resource, mode: 'full' });
  await saveProgress(db, run, { ...PROGRESS, checkpoint: { page: 1 } });
  const opened = await db.transaction().execute(async (trx) => {
    await holdRun(trx, run);
    const opening = openRun(db, { resource, mode: 'full' });
    await expect.poll(() => countWaiting(pool)).toBe(1);
    return { opening };
  });
  expect(await opened.opening).toMatchObject({ run: { id: run.id, attempt: 2 } });
});

test('a run that held deletions back does not succeed, though it is verified', async () => {
  const run = await startRun(db, { resource, mode: 'full' });
  const end = { ...END, deletesHeldBack: 12 };
  await expect(finish(run, end)).rejects.toThrow(/sync_runs_no_success_holds_back/);
  expect(await finish(run, { ...end, reason: '12 deletions held back: …' })).toMatchObject({
    state: 'partial',
    verified: true,
    deletes_held_back: 12,
    error: '12 deletions held back: …',
  });
});

test('a run deletes nothing without having been verified', async () => {
  const run = await startRun(db, { resource, mode: 'full' });
  await expect(
    finish(run, { ...END, verified: false, reason: 'unverified', rowsDeleted: 1 }),
  ).rejects.toThrow(/sync_runs_only_a_verified_run_deletes/);
});

test('drift is new where neither the last verified run that read everything had it, nor any run since', async () => {
  const drifts = (...fields: string[]) =>
    fields.map((field) => ({ field, kind: 'appeared' as const, found: 'string', occurrences: 1 }));
  /** Ends a run that found these fields, and returns those that were new. */
  const sync = async (mode: 'full' | 'delta', fields: readonly string[], verified = true) => {
    const run = await startRun(db, { resource, mode });
    const fresh = await saveDrift(db, { runId: run.id, resource }, drifts(...fields));
    await finish(run, { ...END, verified, reason: verified ? null : 'unverified because …' });
    return fresh.map(({ field }) => field);
  };
  expect(await sync('full', ['a', 'b'])).toEqual(['a', 'b']);
  expect(await sync('full', ['a', 'b'])).toEqual([]);
  // A delta sees few records: what it does not find is not gone, and what it finds is known from then on.
  expect(await sync('delta', ['c'])).toEqual(['c']);
  expect(await sync('full', [], false)).toEqual([]);
  expect(await sync('full', ['a', 'b', 'c'])).toEqual([]);
  expect(await sync('full', ['a'])).toEqual([]);
  expect(await sync('full', ['a', 'b'])).toEqual(['b']);
  // The same name in another resource, or in another way, is another difference.
  const run = await startRun(db, { resource: 'affiliates', mode: 'full' });
  expect(await saveDrift(db, { runId: run.id, resource: 'affiliates' }, drifts('a'))).toHaveLength(1);
});
