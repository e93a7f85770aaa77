// The queue on both backends: that the defects measured in BullMQ's Postgres backend stay worked around, and that both
// behave alike where affiliate-mirror relies on them.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { makeLogger } from '../../src/log.ts';
import { migrateQueue, openQueue, queueSchema } from '../../src/queue/backend.ts';
import { ensureEnqueued } from '../../src/queue/enqueue.ts';
import type { JobHandlers } from '../../src/queue/process-job.ts';
import { readQueueId } from '../../src/queue/program-pause.ts';
import { type RunningWorker, startWorker } from '../../src/queue/start-worker.ts';
import type { Timings } from '../../src/queue/timings.ts';
import type { JobKinds } from '../../src/queue/wanted-jobs.ts';
import { createTestDatabase } from '../support/database.ts';
import { FAST, KINDS, makeQueueing, type Queueing } from './queueing.ts';

const log = makeLogger('fatal');
const NO_PROGRAM = { url: 'http://127.0.0.1:9' };
const PROBE = async () => {};

const KINDS_OF_JOBS: JobKinds = {
  once: { attempts: 3, isNews: () => false, next: () => [] },
  again: { attempts: 3, isNews: () => true, next: () => [] },
};

function start(
  { db, settings }: Queueing,
  handlers: JobHandlers,
  timings: Partial<Timings> = FAST,
): Promise<RunningWorker> {
  return startWorker(
    { db, log, handlers, probe: PROBE },
    { queue: settings, kinds: KINDS_OF_JOBS, schedules: [], timings },
  );
}

function want(name: string, key = name) {
  return [{ key, name, payload: {} }];
}

async function wantedKeys({ pool }: Queueing): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>('select key from wanted_jobs order by key');
  return rows.map(({ key }) => key);
}

/** Long enough for a queue that spins to show it. */
const LOOKING_MS = 1000;
/** A dozen rounds of the watchdog: what a starved machine may still fit in. */
const MOST_STATEMENTS = 500;

const done = { kind: 'done', result: {} } as const;

describe.each(KINDS)('a queue on %s', (kind) => {
  test('does work that is wanted twice once, and work that is wanted again meanwhile once more', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const ran: string[] = [];
    const gates = { once: Promise.withResolvers<void>(), again: Promise.withResolvers<void>() };
    const handler = (name: 'once' | 'again') => async () => {
      ran.push(name);
      await gates[name].promise;
      return done;
    };
    const worker = await start(queueing, { once: handler('once'), again: handler('again') });
    await worker.want([...want('once'), ...want('again')]);
    await expect.poll(() => ran.length).toBe(2);
    await Promise.all(Array.from({ length: 5 }, () => worker.want([...want('once'), ...want('again')])));
    gates.once.resolve();
    gates.again.resolve();
    await expect.poll(() => wantedKeys(queueing)).toEqual([]);
    await worker.stop();
    expect(ran.toSorted()).toEqual(['again', 'again', 'once']);
  });

  test('ends a job whose error or result holds what Postgres cannot store', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    let attempts = 0;
    const worker = await start(queueing, {
      once: async () => {
        attempts += 1;
        throw new Error(`NUL \0, half a character \ud800, and ${'a lot of text '.repeat(10_000)}`);
      },
      again: async (_row, { onProgress }) => {
        onProgress({ ['\0']: '\udfff' });
        return { kind: 'done', result: { text: 'NUL \0 and \ud800' } };
      },
    });
    await worker.want([...want('once'), ...want('again')]);
    await expect.poll(() => wantedKeys(queueing)).toEqual([]);
    const backend = await queueing.open();
    // A slow machine may meet a job a second time, with its work done: one more is completed.
    await expect
      .poll(() => backend.queue.getJobCounts('failed', 'completed', 'active'))
      .toEqual({ failed: 1, completed: expect.toSatisfy((completed) => completed >= 1), active: 0 });
    await backend.close();
    await worker.stop();
    expect(attempts).toBe(3);
  });

  test('that forgot a job, or keeps the key of one that is gone, gets it back from the table', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const backend = await queueing.open();
    const [wanted] = want('once');
    if (wanted === undefined) throw new Error('nothing wanted');
    expect(await ensureEnqueued(backend.queue, KINDS_OF_JOBS, wanted)).toBe(true);
    expect(await ensureEnqueued(backend.queue, KINDS_OF_JOBS, wanted)).toBe(false);
    await backend.queue.obliterate({ force: true });
    expect(await ensureEnqueued(backend.queue, KINDS_OF_JOBS, wanted)).toBe(true);
    await backend.queue.obliterate({ force: true });
    await leaveKey(queueing, 'once');
    expect(await backend.queue.getDeduplicationJobId('once')).toBe('gone');
    expect(await ensureEnqueued(backend.queue, KINDS_OF_JOBS, wanted)).toBe(true);
    expect(await backend.queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
    await backend.close();
  });

  test('does nothing for a job whose work is done already', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const worker = await start(queueing, {});
    const backend = await queueing.open();
    const job = await backend.queue.add('once', { key: 'once' });
    await expect.poll(() => job.getState()).toBe('completed');
    await backend.close();
    await worker.stop();
  });

  test('is left alone by workers that have nothing to do, also while it is paused with work in it', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const gate = Promise.withResolvers<void>();
    const once = async () => {
      await gate.promise;
      return done;
    };
    // The default timings, except for a watchdog that looks often enough to see the pause.
    const worker = await start(queueing, { once }, { watchIntervalMs: 1000 });
    const keys = Array.from({ length: 10 }, (_, index) => want('once', `once-${index}`)).flat();
    await worker.want(keys);
    const busy = await countStatements(queueing);
    await queueing.pool.query('update worker_state set refused_at = clock_timestamp()');
    const backend = await queueing.open();
    await expect.poll(() => backend.queue.isPaused()).toBe(true);
    gate.resolve();
    const paused = await countStatements(queueing);
    await backend.close();
    await worker.stop();
    // Rounds of the watchdog look after ten rows each; a queue that spins does thousands of statements.
    expect(busy).toBeLessThan(MOST_STATEMENTS);
    expect(paused).toBeLessThan(MOST_STATEMENTS);
  });

  test('refuses a start while its server is away, and says where it looked', async () => {
    const away = { databaseUrl: 'postgres://nobody:hidden@127.0.0.1:9/none', mirrorSchema: 'mirror' };
    const settings = { ...away, redisUrl: kind === 'redis' ? 'redis://:hidden@127.0.0.1:9' : null };
    const opening = openQueue({ log }, settings, 'id');
    await expect(opening).rejects.toMatchObject({ code: 'DB_UNREACHABLE' });
    await expect(opening).rejects.not.toThrow(/hidden/);
  });

  test('of one mirror is not that of another', async () => {
    const [one, other] = [await makeQueueing(kind, NO_PROGRAM), await makeQueueing(kind, NO_PROGRAM)];
    const settings = { ...other.settings, redisUrl: one.settings.redisUrl };
    const first = await one.open();
    const second = await openQueue({ log }, settings, 'another-id');
    await first.queue.add('once', {});
    expect(await first.queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
    expect(await second.queue.getJobCounts('waiting')).toEqual({ waiting: 0 });
    await Promise.all([first.close(), second.close()]);
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

/** Returns what the queue's server was asked while a worker had a second and its watchdog a round. */
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
  test('has a schema of its own beside the mirror, whatever the length of its name', () => {
    expect(queueSchema('mirror')).toBe('mirror_queue');
    const [one, other] = [queueSchema(`${'m'.repeat(62)}1`), queueSchema(`${'m'.repeat(62)}2`)];
    expect(one).toHaveLength(63);
    expect(one).not.toBe(other);
  });

  test('is migrated as often as one likes, also by several at once', async () => {
    const { url, pool } = await createTestDatabase();
    const settings = { redisUrl: null, databaseUrl: url, mirrorSchema: 'mirror' };
    await Promise.all([1, 2, 3].map(() => migrateQueue(pool, settings)));
    await migrateQueue(pool, settings);
    const backend = await openQueue({ log }, settings, 'id');
    await backend.queue.add('once', {});
    expect(await backend.queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
    await backend.close();
  });

  test('is found where the address has options of its own', async () => {
    const { url, pool } = await createTestDatabase();
    const address = new URL(url);
    address.searchParams.set('options', '-c search_path=public -c statement_timeout=60000');
    const settings = { redisUrl: null, databaseUrl: address.href, mirrorSchema: 'mirror' };
    await migrateQueue(pool, settings);
    const backend = await openQueue({ log }, settings, 'id');
    await backend.queue.add('once', {});
    const { rows } = await pool.query('select queue from mirror_queue.job');
    expect(rows).toEqual([{ queue: 'work' }]);
    await backend.close();
  });

  test('that was never migrated is refused, saying how to fix it', async () => {
    const { url } = await createTestDatabase();
    const settings = { redisUrl: null, databaseUrl: url, mirrorSchema: 'mirror' };
    await expect(openQueue({ log }, settings, 'id')).rejects.toThrow('run affiliate-mirror migrate');
  });
});

test('nothing relies on what is known to fail on Postgres', () => {
  const directory = new URL('../../src/', import.meta.url);
  const code = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(new URL(path, directory), 'utf8').replace(/^\s*\/\/.*$/gm, ''))
    .join('\n');
  for (const name of ['QueueEvents', 'waitUntilFinished', 'setGlobalConcurrency', 'setGlobalRateLimit']) {
    expect(code).not.toContain(name);
  }
});
