// Pruning beside other work: syncs, other workers, processes that are killed, and rows that somebody else writes.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { pruneTables } from '../../../src/mirror/retention/prune.ts';
import { readMoment } from '../../../src/worker/queue/worker-state.ts';
import { makeRetentionSource } from '../../../src/worker/sources/retention-job.ts';
import { runSandbox, SECRET } from '../../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { runCli, spawnCli } from '../../support/run-cli.ts';
import { type AgedMirror, addChange, FOR_EVER, idsOf, makeAgedMirror, pruneNow } from './aged-mirror.ts';

/** So many changes of ten days ago, of as many records as given: of each the last one stays. */
async function fillOldHistory(
  { pool }: Pick<AgedMirror, 'pool'>,
  changes: number,
  records: number,
): Promise<void> {
  await pool.query(
    `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
     select 'affiliates', 'old-' || n % $2, 'updated', '{"visitors": 1}', '{"visitors": 2}', at, at
     from generate_series(1, $1) n
     cross join lateral (select now() - interval '10 days' + n * interval '1 ms' as at) then_
     order by n`,
    [changes, records],
  );
}

const countOld = async ({ pool }: Pick<AgedMirror, 'pool'>) => {
  const { rows } = await pool.query(
    `select count(*) as count from record_history where record_id like 'old-%'`,
  );
  return Number(rows[0]?.count);
};

const HISTORY_ONLY = { ...FOR_EVER, history: 1 };
const NEVER = new AbortController().signal;
const log = makeLogger('silent');

test('a sync runs beside the pruning of 50,000 changes: no deadlock, and neither waits for a lock of the other', async () => {
  const mirror = await makeAgedMirror();
  const { pool: programPool } = await createTestDatabase();
  const sandbox = await runSandbox(programPool, { affiliates: 50, referrals: 2000 });
  await fillOldHistory(mirror, 50_000, 500);
  const environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: mirror.url,
  };
  const waits: string[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await mirror.pool.query<{ query: string }>(
        `select waiting.query from pg_stat_activity waiting
         cross join unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
         join pg_stat_activity other on other.pid = blocking.pid
         where waiting.datname = current_database()
           and waiting.query like '%aged%' <> (other.query like '%aged%')`,
      );
      waits.push(...rows.map(({ query }) => query));
      await sleep(5);
    }
  })();
  const [outcome, synced] = await Promise.all([
    pruneTables({ db: mirror.db, log }, { retention: HISTORY_ONLY, signal: NEVER }),
    runCli(['sync'], environment),
  ]);
  isOver = true;
  await watching;
  expect({ outcome, code: synced.code, waits }).toEqual({ outcome: 'done', code: 0, waits: [] });
  expect(await countOld(mirror)).toBe(500);
  const { rows } = await mirror.pool.query(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(rows).toEqual([{ deadlocks: 0 }]);
});

test('of two at once one prunes, and the other leaves it', async () => {
  const mirror = await makeAgedMirror();
  await fillOldHistory(mirror, 3000, 10);
  const input = { retention: HISTORY_ONLY, signal: NEVER };
  const outcomes = await Promise.all([1, 2].map(() => pruneTables({ db: mirror.db, log }, input)));
  expect(outcomes.toSorted()).toEqual(['busy', 'done']);
  expect(await countOld(mirror)).toBe(10);
  const { rows } = await mirror.pool.query(
    `select rows_deleted from pruned_tables where table_name = 'record_history'`,
  );
  expect(rows).toEqual([{ rows_deleted: 2990 }]);
});

test('a worker that stops ends it between two batches, and the next one goes on', async () => {
  const mirror = await makeAgedMirror();
  await fillOldHistory(mirror, 1000, 10);
  const stopping = new AbortController();
  const input = { retention: HISTORY_ONLY, signal: stopping.signal, batchRows: 50 };
  const pruning = pruneTables({ db: mirror.db, log }, input);
  const ended = expect(pruning).rejects.toThrow('the worker stops');
  await expect.poll(() => countOld(mirror)).toBeLessThan(1000);
  stopping.abort(new Error('the worker stops'));
  await ended;
  expect(await countOld(mirror)).toBeGreaterThan(10);
  expect(await pruneTables({ db: mirror.db, log }, { ...input, signal: NEVER })).toBe('done');
  expect(await countOld(mirror)).toBe(10);
});

test('time is bounded: what is left is done by the next job, and only then an hour passes', async () => {
  const mirror = await makeAgedMirror();
  await fillOldHistory(mirror, 500, 10);
  const input = { retention: HISTORY_ONLY, signal: NEVER, batchRows: 10, longestMs: 100 };
  expect(await pruneTables({ db: mirror.db, log }, input)).toBe('left');
  const duty = makeRetentionSource({ db: mirror.db, log }, HISTORY_ONLY);
  const moment = await readMoment(mirror.db);
  const [due] = await duty.findDue(moment);
  expect(due?.id).toMatch(/^retention-\d+$/);
  const context = { signal: NEVER, waitedMs: 0 };
  expect(await due?.run(context)).toEqual({ kind: 'done' });
  expect(await countOld(mirror)).toBe(10);
  expect(await duty.findDue(moment)).toEqual([]);
  await mirror.pool.query(`update pruned_tables set looked_at = looked_at - interval '61 minutes'`);
  expect(await duty.findDue(moment)).toHaveLength(1);
});

test('rows that somebody is rewriting are left, without a wait, and pruned later', async () => {
  const mirror = await makeAgedMirror();
  await fillOldHistory(mirror, 100, 10);
  const rewriting = await mirror.pool.connect();
  await rewriting.query('begin; update record_history set before = before');
  expect(await pruneNow(mirror, HISTORY_ONLY)).toBe('left');
  expect(await countOld(mirror)).toBe(100);
  await rewriting.query('commit');
  rewriting.release();
  expect(await pruneNow(mirror, HISTORY_ONLY)).toBe('done');
  expect(await countOld(mirror)).toBe(10);
});

test('a worker that is killed in the middle leaves whole batches, and the next one goes on', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  await fillOldHistory(mirror, 20_000, 10);
  await addChange(pool, 0, { record: 'new' });
  const environment = {
    AFFILIATE_API_URL: 'http://127.0.0.1:9',
    AFFILIATE_API_SECRET: SECRET,
    OPTIONAL_LISTS: 'none',
    DATABASE_URL: mirror.url,
    SYNC_FULL_CRON: '',
    SYNC_DELTA_CRON: '',
    STATUS_PORT: '0',
    RETENTION_HISTORY_DAYS: '1',
  };
  expect((await runCli(['migrate'], environment)).code).toBe(0);
  const worker = spawnCli(['work'], environment);
  const ended = once(worker, 'close');
  onTestFinished(() => void worker.kill('SIGKILL'));
  await expect.poll(() => countOld(mirror)).toBeLessThan(20_000);
  worker.kill('SIGKILL');
  await ended;
  const left = await countOld(mirror);
  expect(left).toBeGreaterThan(10);
  const { rows } = await pool.query(
    `select rows_deleted from pruned_tables where table_name = 'record_history'`,
  );
  expect(rows).toEqual([{ rows_deleted: 20_000 - left }]);
  // Postgres sees at its next statement that the process is gone, and drops its lock.
  await expect.poll(() => pruneNow(mirror, HISTORY_ONLY)).toBe('done');
  expect(await countOld(mirror)).toBe(10);
  expect(await idsOf(pool, 'record_history', 'record_id')).toContain('new');
});
