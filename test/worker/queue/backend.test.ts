// The queue on both backends: that the defects measured in BullMQ's Postgres backend stay worked around, and that both
// behave alike where affiliate-mirror relies on them.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { addDue } from '../../../src/worker/queue/add-due.ts';
import { openQueue } from '../../../src/worker/queue/backend.ts';
import type { JobContext, JobOutcome, JobSource } from '../../../src/worker/queue/job-source.ts';
import { checkQueueSchema, migrateQueue, queueSchema } from '../../../src/worker/queue/queue-tables.ts';
import { TIMINGS } from '../../../src/worker/queue/timings.ts';
import { readQueueId } from '../../../src/worker/queue/worker-state.ts';
import { createTestDatabase } from '../../support/database.ts';
import { FAST, KINDS, makeQueueing, type Queueing } from './queueing.ts';
import { serveOne } from './serve-one.ts';

const log = makeLogger('fatal');
const NO_PROGRAM = { url: 'http://127.0.0.1:9' };
const PROBE = async () => {};
const DONE = { kind: 'done' } as const;

/** Returns a duty that is due until it was done. */
function once(name: string, run: (context: JobContext) => Promise<JobOutcome>): JobSource {
  let isDone = false;
  const due = {
    id: `${name}-1`,
    priority: 1,
    async run(context: JobContext) {
      const outcome = await run(context);
      isDone = true;
      return outcome;
    },
  };
  return { name, needsProgram: true, schedules: [], findDue: async () => (isDone ? [] : [due]) };
}

/** Long enough for a queue that spins to show it. */
const LOOKING_MS = 1000;
/** A dozen rounds: what a starved machine may still fit in. */
const MOST_STATEMENTS = 500;

describe.each(KINDS)('a queue on %s', (kind) => {
  test('ends a job whose error holds what Postgres cannot store', async () => {
    const { db, settings, open } = await makeQueueing(kind, NO_PROGRAM);
    let attempts = 0;
    const failing = once('failing', async () => {
      attempts += 1;
      throw new Error(`NUL \0, half a character \ud800, and ${'a lot of text '.repeat(10_000)}`);
    });
    const timings = { ...FAST, mostAttempts: 3 };
    const worker = await serveOne(
      { db, log, probe: PROBE },
      { queue: settings, sources: [failing], timings },
    );
    const { queue, close } = await open();
    await expect
      .poll(() => queue.getJobCounts('failed', 'waiting', 'delayed', 'active'))
      .toEqual({ failed: 1, waiting: 0, delayed: 0, active: 0 });
    expect((await queue.getFailed())[0]?.failedReason).toContain('half a character');
    await close();
    await worker.stop();
    expect(attempts).toBe(3);
  });

  test('that forgot a job, or keeps the key of one that is gone, gets it back', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const { queue, close } = await queueing.open();
    const once = (id: string) => ({
      id,
      subject: 'once',
      priority: 1,
      run: async () => DONE,
    });
    const add = (id: string) =>
      addDue(queue, [once(id)], { program: null, name: 'x', cause: null, ...TIMINGS });
    expect(await add('once-1')).toEqual(['once-1']);
    expect(await add('once-1')).toEqual([]);
    // One of a subject waits or runs at a time.
    expect(await add('once-2')).toEqual([]);
    await queue.obliterate({ force: true });
    expect(await add('once-1')).toEqual(['once-1']);
    await queue.obliterate({ force: true });
    await leaveKey(queueing, 'once');
    expect(await queue.getDeduplicationJobId('once')).toBe('gone');
    expect(await add('once-1')).toEqual(['once-1']);
    expect(await queue.getDeduplicationJobId('once')).toBe('once-1');
    expect(await queue.getJobCounts('prioritized')).toEqual({ prioritized: 1 });
    await close();
  });

  test('is left alone by workers that have nothing to do, also while the program may not be asked', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const gate = Promise.withResolvers<void>();
    const names = Array.from({ length: 10 }, (_, index) => `once-${index}`);
    const sources = names.map((name) => once(name, () => gate.promise.then(() => DONE)));
    // The default timings, except for rounds that come often enough to be counted.
    const timings = { watchIntervalMs: 1000 };
    const { db, settings } = queueing;
    const worker = await serveOne({ db, log, probe: PROBE }, { queue: settings, sources, timings });
    const { queue, close } = await queueing.open();
    await expect.poll(() => queue.getJobCounts('active')).toEqual({ active: names.length });
    const busy = await countStatements(queueing);
    await queueing.pool.query(
      "update worker_state set refused_at = clock_timestamp(), refused_code = 'API_UNAUTHORIZED'",
    );
    gate.resolve();
    const paused = await countStatements(queueing);
    expect(await queue.getJobCounts('waiting', 'active', 'delayed')).toEqual({
      waiting: 0,
      active: 0,
      delayed: 0,
    });
    await close();
    await worker.stop();
    // Rounds of the watchdog ask ten sources each; a queue that spins does thousands of statements.
    expect(busy).toBeLessThan(MOST_STATEMENTS);
    expect(paused).toBeLessThan(MOST_STATEMENTS);
  });
});

/** Leaves in the queue the key of a job that is gone, as if that job did the work. */
async function leaveKey({ pool, redis, db }: Queueing, key: string): Promise<void> {
  if (redis === null) {
    await pool.query(`insert into mirror_queue.dedup (queue, dedup_id, job_id) values ('work', $1, 'gone')`, [
      key,
    ]);
    return;
  }
  const client = new Redis(redis.url);
  await client.set(`affiliate-mirror:mirror:${await readQueueId(db)}:work:de:${key}`, 'gone');
  client.disconnect();
}

/** Returns what the queue's server was asked while a worker had a second and a round. */
async function countStatements({ settings, redis }: Queueing): Promise<number> {
  const read = redis === null ? () => readTransactions(settings.databaseUrl) : () => readCommands(redis.url);
  const before = await read();
  await sleep(LOOKING_MS);
  return (await read()) - before;
}

async function readTransactions(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(
    `select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()`,
  );
  await client.end();
  return Number(rows[0]?.count);
}

async function readCommands(url: string): Promise<number> {
  const redis = new Redis(url);
  const stats = await redis.info('stats');
  redis.disconnect();
  return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
}

describe('the queue in Postgres', () => {
  test('is migrated as often as one likes, also by several at once', async () => {
    const { url } = await createTestDatabase();
    const pool = makePool({ log }, { url, schema: 'mirror', max: 10, applicationName: 'test' });
    onTestFinished(() => pool.end());
    const settings = { redisUrl: null, databaseUrl: url, mirrorSchema: 'mirror' };
    await Promise.all(Array.from({ length: 10 }, () => migrateQueue(pool, settings)));
    await migrateQueue(pool, settings);
    const backend = await openQueue({ log }, settings, 'id');
    await backend.queue.add('once', {});
    expect(await backend.queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
    await backend.close();
  });

  test('that was never migrated is refused, saying how to fix it', async () => {
    const { url } = await createTestDatabase();
    const settings = { redisUrl: null, databaseUrl: url, mirrorSchema: 'mirror' };
    await expect(openQueue({ log }, settings, 'id')).rejects.toThrow('run affiliate-mirror migrate');
  });

  test('that a newer version made is refused, saying how to fix it', async () => {
    const { url, pool } = await createTestDatabase();
    const settings = { redisUrl: null, databaseUrl: url, mirrorSchema: 'mirror' };
    await migrateQueue(pool, settings);
    await pool.query(`update ${queueSchema('mirror')}.migration set min_client_version = 99`);
    for (const use of [
      () => checkQueueSchema(pool, settings),
      () => migrateQueue(pool, settings),
      () => openQueue({ log }, settings, 'x'),
    ]) {
      await expect(use()).rejects.toMatchObject({
        code: 'DB_SCHEMA_MISMATCH',
        message:
          'the schema mirror_queue, which keeps the queue, is newer than this version: update affiliate-mirror',
      });
    }
  });
});
