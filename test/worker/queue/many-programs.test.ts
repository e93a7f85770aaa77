// Two programs on one queue, on both of its servers: each is worked for by itself, and none holds up the other.

import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeApiClient } from '../../../src/api/client.ts';
import { ApiUnauthorized, SchemaMismatch } from '../../../src/base/errors.ts';
import type { Database } from '../../../src/db/database.ts';
import { PRUNED_TABLES } from '../../../src/mirror/retention/pruned-tables.ts';
import { openQueue } from '../../../src/worker/queue/backend.ts';
import { PRIORITY } from '../../../src/worker/queue/job-source.ts';
import type { RunningWorker } from '../../../src/worker/queue/start-worker.ts';
import { TIMINGS } from '../../../src/worker/queue/timings.ts';
import { readListQueueId } from '../../../src/worker/queue/worker-state.ts';
import { makeCommissionsSource } from '../../../src/worker/sources/commissions-job.ts';
import { makeListsSource } from '../../../src/worker/sources/list-job.ts';
import { makePollSource } from '../../../src/worker/sources/poll-job.ts';
import { makeRetentionSource } from '../../../src/worker/sources/retention-job.ts';
import { makeSchedules, makeSyncSource } from '../../../src/worker/sources/sync-job.ts';
import { runSandbox } from '../../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { makeUnlimitedPermits } from '../../support/unlimited-permits.ts';
import { countEvery, DAILY, EVERY_SECOND, FAST, KINDS, makeQueueing, type Queueing } from './queueing.ts';
import {
  log,
  makeSchema,
  makeServed,
  makeTasks,
  ON_DEMAND,
  startListWorker,
  type Tasks,
  untilStopped,
} from './served-programs.ts';

const NO_PROGRAM = { url: 'http://127.0.0.1:9' };
const NEVER = new AbortController().signal;

/** Returns the queue of the list; closed when the test ends. */
async function openListQueue({ db, settings }: Queueing) {
  const backend = await openQueue({ log }, settings, await readListQueueId(db, settings.mirrorSchema));
  onTestFinished(() => backend.close());
  return backend.queue;
}

/** Resolves once the program has done a task that comes due now. Returns the jobs by state. */
async function untilServed(worker: RunningWorker, program: Tasks, wake: () => void) {
  const id = `later-${program.begun.length}`;
  program.tasks.push({ id });
  wake();
  await expect.poll(() => program.begun).toContain(id);
  await expect.poll(() => program.tasks).toEqual([]);
  return worker.countJobs();
}

describe.each(KINDS)('of two programs on %s', (kind) => {
  test('each is synced from its own API, by schedules of its own', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const worker = await startListWorker(queueing, { ...FAST, watchIntervalMs: 5000 });
    const dbs = { acme: queueing.db, bolt: await makeSchema(queueing, 'mirror_bolt') };
    const sizes = { acme: 5, bolt: 8 };
    for (const name of ['acme', 'bolt'] as const) {
      const db = dbs[name];
      const { pool } = await createTestDatabase();
      const sandbox = await runSandbox(pool, {
        affiliates: sizes[name],
        referrals: 30,
        secret: `of-${name}`,
      });
      onTestFinished(() => sandbox.close());
      const { takePermit } = makeUnlimitedPermits();
      const program = { url: sandbox.url, secret: `of-${name}`, timeoutMs: 5000 };
      const api = makeApiClient({ takePermit, log }, program);
      onTestFinished(() => api.close());
      await sql`update worker_state set made_at = now() - interval '3 days'`.execute(db);
      const schedules = makeSchedules({ full: DAILY, delta: null, timezone: 'UTC' });
      await worker.serve(
        makeServed(name, db, [makeSyncSource({ api, db, log }, { schedules }, TIMINGS)]),
        NEVER,
      );
    }
    for (const name of ['acme', 'bolt'] as const) {
      const synced = () =>
        sql`select distinct resource from sync_runs where verified order by 1`.execute(dbs[name]);
      await expect.poll(async () => (await synced()).rows).toHaveLength(2);
      const { rows } = await sql`select count(*) as count from affiliates`.execute(dbs[name]);
      expect(rows).toEqual([{ count: sizes[name] }]);
    }
    const names = (await worker.queue.getJobSchedulers()).map(({ key }) => key);
    expect(names.toSorted()).toEqual(['acme.sync-full', 'bolt.sync-full']);
  });

  test('one that is refused, unfit or locked holds up nothing of the other', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const worker = await startListWorker(queueing, { ...FAST, watchIntervalMs: 300 });
    const db = await makeSchema(queueing, 'mirror_acme');
    const bolt = makeTasks();
    const { wake } = await worker.serve(makeServed('bolt', queueing.db, [bolt]), NEVER);
    const refused = makeTasks({ id: 'never' });
    const probe = () => Promise.reject(new ApiUnauthorized('refused'));
    const first = await worker.serve(makeServed('acme', db, [refused], { probe }), NEVER);
    await untilServed(worker, bolt, wake);
    expect(refused.begun).toEqual([]);
    await first.stop();

    await sql`update worker_state set refused_at = null, refused_code = null`.execute(db);
    let isUnfit = false;
    const checkMirror = async () => {
      if (isUnfit) throw new SchemaMismatch('another version');
    };
    const second = await worker.serve(makeServed('acme', db, [makeTasks()], { checkMirror }), NEVER);
    isUnfit = true;
    await expect(second.ended).rejects.toThrow('another version');
    await second.stop();
    await untilServed(worker, bolt, wake);

    const locked = makeTasks({ id: 'after-the-lock', run: untilStopped });
    const third = await worker.serve(makeServed('acme', db, [locked]), NEVER);
    await expect.poll(() => locked.begun).toEqual(['after-the-lock']);
    await withLocked(queueing, 'mirror_acme.worker_state', async () => {
      third.wake();
      await untilServed(worker, bolt, wake);
    });
    const asked = locked.asked;
    await expect.poll(() => locked.asked).toBeGreaterThan(asked);
  });

  test('a job of one that is not served yet is delayed, and not lost', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const worker = await startListWorker(queueing, { ...FAST, ...ON_DEMAND });
    const queue = await openListQueue(queueing);
    const acme = makeTasks();
    const { wake } = await worker.serve(makeServed('acme', queueing.db, [acme]), NEVER);
    const job = await queue.add('bolt.x', {}, { jobId: 'bolt.x-1' });
    await expect.poll(() => job.getState()).toBe('delayed');
    await untilServed(worker, acme, wake);
    const db = await makeSchema(queueing, 'mirror_bolt');
    const bolt = makeTasks({ id: 'x-1' });
    await worker.serve(makeServed('bolt', db, [bolt]), NEVER);
    await expect.poll(() => bolt.begun).toEqual(['x-1']);
    await expect.poll(() => job.getState()).toBe('completed');
  });

  test('one is stopped while the other works on, and goes on when it is served again', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const worker = await startListWorker(queueing, { ...FAST, ...ON_DEMAND });
    const [acme, bolt] = [makeTasks({ id: 'long', run: untilStopped }), makeTasks()];
    const db = await makeSchema(queueing, 'mirror_bolt');
    const first = await worker.serve(makeServed('acme', queueing.db, [acme]), NEVER);
    const { wake } = await worker.serve(makeServed('bolt', db, [bolt]), NEVER);
    const gate = Promise.withResolvers<void>();
    bolt.tasks.push({ id: 'meanwhile', run: () => gate.promise });
    wake();
    await expect.poll(() => [...acme.begun, ...bolt.begun]).toEqual(['long', 'meanwhile']);
    await first.stop();
    await first.ended;
    gate.resolve();
    await expect.poll(() => bolt.tasks).toEqual([]);
    expect(await untilServed(worker, bolt, wake)).toMatchObject({ failed: 0, delayed: 1 });
    const again = makeTasks({ id: 'long' });
    await worker.serve(makeServed('acme', queueing.db, [again]), NEVER);
    await expect.poll(() => again.tasks).toEqual([]);
  });

  test('the tick of one wakes that one alone, and schedules of programs that are gone are removed', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const queue = await openListQueue(queueing);
    for (const id of ['gone.sync-full', 'sync-full']) {
      await queue.upsertJobScheduler(id, { pattern: DAILY, tz: 'UTC' }, { name: 'tick' });
    }
    const worker = await startListWorker(queueing, { ...FAST, ...ON_DEMAND });
    const db = await makeSchema(queueing, 'mirror_bolt');
    const acme = { ...makeTasks(), schedules: [countEvery('often', EVERY_SECOND)] };
    const bolt = { ...makeTasks(), schedules: [countEvery('daily', DAILY)] };
    const asked = { acme: 0, bolt: 0 };
    const count = (name: keyof typeof asked) => async () => {
      asked[name] += 1;
      return [];
    };
    await worker.serve(makeServed('acme', queueing.db, [{ ...acme, findDue: count('acme') }]), NEVER);
    await worker.serve(makeServed('bolt', db, [{ ...bolt, findDue: count('bolt') }]), NEVER);
    await expect.poll(() => asked.acme).toBeGreaterThan(2);
    expect(asked.bolt).toBe(1);
    const names = (await queue.getJobSchedulers()).map(({ key }) => key);
    expect(names.toSorted()).toEqual(['acme.often', 'bolt.daily']);
  });

  test('a payment of one begins while syncs of the other fill the queue', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const worker = await startListWorker(queueing, { ...FAST, ...ON_DEMAND }, { mostJobs: 6 });
    const syncs = Array.from({ length: 12 }, (_, index) => ({ id: `sync-${index}`, run: untilStopped }));
    const acme = makeTasks(...syncs);
    const db = await makeSchema(queueing, 'mirror_bolt');
    const bolt = makeTasks();
    await worker.serve(makeServed('acme', queueing.db, [acme]), NEVER);
    const { wake } = await worker.serve(makeServed('bolt', db, [bolt]), NEVER);
    await expect.poll(() => acme.begun).toHaveLength(2);
    bolt.tasks.push({ id: 'payment', priority: PRIORITY.payments });
    wake();
    await expect.poll(() => bolt.tasks).toEqual([]);
    expect(acme.begun).toHaveLength(2);
  });
});

test('a program at rest costs one transaction a round', async () => {
  const queueing = await makeQueueing('postgres', NO_PROGRAM);
  let transactions = 0;
  let rounds = 0;
  const db = await makeSchema(queueing, 'mirror_acme', () => {
    transactions += 1;
  });
  await sql`insert into pruned_tables (table_name, keep_days, begun_at, looked_at)
    select name, 1, now(), now() from unnest(${PRUNED_TABLES.map(({ name }) => name)}::text[]) as name`.execute(
    db,
  );
  const { takePermit } = makeUnlimitedPermits();
  const api = makeApiClient({ takePermit, log }, { url: NO_PROGRAM.url, secret: 'x', timeoutMs: 1000 });
  onTestFinished(() => api.close());
  const deps = { api, db, log, pool: queueing.pool };
  const schedules = makeSchedules({ full: DAILY, delta: '*/15 * * * *', timezone: 'UTC' });
  await sql`update worker_state set made_at = now() + interval '1 day'`.execute(db);
  const sources = [
    makeCommissionsSource(deps, { concurrency: 1 }),
    makeSyncSource(deps, { schedules }, TIMINGS),
    makePollSource(deps),
    makeListsSource(deps, { campaigns: 'off', commissions: 'off', payouts: 'off' }),
    makeRetentionSource(deps, { history: 1, runs: 1, rejected: 1, attempts: 1, drift: 1 }),
  ];
  const checkMirror = async (asked: Database) => {
    await sql`select from personal_data`.execute(asked);
    rounds += 1;
  };
  const worker = await startListWorker(queueing, { ...FAST, watchIntervalMs: 150 });
  await worker.serve(makeServed('acme', db, sources, { checkMirror }), NEVER);
  const before = { transactions, rounds };
  await expect.poll(() => rounds).toBeGreaterThan(before.rounds + 9);
  expect(transactions - before.transactions).toBeLessThanOrEqual(rounds - before.rounds + 1);
  // The next ticks.
  expect(await worker.countJobs()).toMatchObject({ waiting: 0, active: 0, delayed: schedules.length });
});

/** Runs `work` while another session has the table locked. */
async function withLocked({ pool }: Queueing, table: string, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  await client.query(`set idle_in_transaction_session_timeout = 0; begin; lock table ${table}`);
  await work().finally(async () => {
    await client.query('rollback');
    client.release(true);
  });
}
