// What needs no setting, since it is bounded by itself: permits of requests, jobs that ended.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { makeTakePermit } from '../../../src/budget/shared-budget.ts';
import type { JobSource } from '../../../src/worker/queue/job-source.ts';
import { FAST, makeQueueing } from '../../worker/queue/queueing.ts';
import { serveOne } from '../../worker/queue/serve-one.ts';
import { makeAgedMirror } from './aged-mirror.ts';

const log = makeLogger('silent');

test('of the permits only those of the last minutes are kept, however many were granted', async () => {
  const { db, pool } = await makeAgedMirror();
  const rateLimit = { requests: 100, windowSeconds: 30 };
  const take = makeTakePermit({ db, log }, { rateLimit, priority: 'reads', requestTimeoutMs: 1000 });
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 100; count += 1) await (await take()).returnAnswered(null);
    await pool.query(`update request_permits set expires_at = expires_at - interval '2 minutes'`);
  }
  const { rows: before } = await pool.query('select count(*)::int as count from request_permits');
  expect(before).toEqual([{ count: 100 }]);
  await take();
  const { rows } = await pool.query('select count(*)::int as count from request_permits');
  expect(rows).toEqual([{ count: 1 }]);
});

test('a job that ended well is gone, and one that was given up goes after a week', async () => {
  const { db, pool, settings } = await makeQueueing('postgres', { url: 'http://127.0.0.1:9' });
  const most = { succeeds: 20, fails: 1 };
  const begun = { succeeds: 0, fails: 0 };
  const makeSource = (name: keyof typeof begun): JobSource => {
    const run = async () => {
      begun[name] += 1;
      if (name === 'fails') throw new ConfigError(['for good']);
      return { kind: 'done' } as const;
    };
    const findDue: JobSource['findDue'] = async () =>
      begun[name] < most[name] ? [{ id: `${name}-${begun[name]}`, priority: 1, run }] : [];
    return { name, needsProgram: false, schedules: [], findDue };
  };
  const worker = await serveOne(
    { db, log, probe: async () => {} },
    { queue: settings, sources: [makeSource('succeeds'), makeSource('fails')], timings: FAST },
  );
  const left = async () => {
    const { rows } = await sql<{ id: string }>`select id from mirror_queue.job order by id`.execute(db);
    return rows.map(({ id }) => id);
  };
  await expect.poll(() => begun).toEqual(most);
  await expect.poll(left).toEqual(['fails-0']);
  await pool.query('update mirror_queue.job set finished_at_ms = finished_at_ms - 8 * 86400000');
  most.fails = 2;
  worker.wake();
  await expect.poll(left).toEqual(['fails-1']);
  await worker.stop();
});
