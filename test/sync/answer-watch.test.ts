// An outage is in the run log before it fails the run: for how long a page request has had no answer, and how often it
// was sent.

import { expect, onTestFinished, test } from 'vitest';
import { makeApiClient } from '../../src/api/client.ts';
import { makeLogger } from '../../src/base/log.ts';
import { openRun } from '../../src/mirror/runs/open-run.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { watchAnswer } from '../../src/sync/answer-watch.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { SECRET } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 6, referrals: 250 });
const REFERRALS = { resource: 'referrals', mode: 'full' } as const;
const event = { method: 'GET', path: '/v1/referrals', durationMs: 1, attempt: 1 } as const;

async function readWait(): Promise<unknown> {
  const { rows } = await given().database.pool.query(
    `select last_run_unanswered_attempt as attempt, last_run_unanswered_seconds as seconds
     from mirror_reports.freshness where resource = 'referrals'`,
  );
  return rows[0];
}

const NONE = { attempt: null, seconds: null };
const attempt = (count: number) => ({ attempt: count, seconds: expect.any(Number) });

test('a page that is retried is noted as waited for, until it is there', async () => {
  const { db, sandbox } = given();
  const retried = Promise.withResolvers<void>();
  let requests = 0;
  const proxy = await startAlteringProxy(sandbox.url, async (body) => {
    requests += 1;
    if (requests === 1) return { status: 503, body: '{}' };
    if (requests === 2) await retried.promise;
    return body;
  });
  onTestFinished(() => proxy.close());
  const log = makeLogger('silent');
  const api = makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url: proxy.url, secret: SECRET, timeoutMs: 60_000, attempts: { firstWaitMs: 0 } },
  );
  onTestFinished(() => api.close());
  const syncing = runSync({ api, db, log }, { ...REFERRALS, acceptDeletes: false });
  await expect.poll(readWait).toEqual(attempt(2));
  retried.resolve();
  expect(await syncing).toMatchObject({ state: 'succeeded' });
  const { rows } = await given().database.pool.query(
    'select unanswered_since, unanswered_attempt from sync_runs order by id desc limit 1',
  );
  expect(rows).toEqual([{ unanswered_since: null, unanswered_attempt: null }]);
});

test('a first request is noted once its answer is late, and an answer in time is not', async () => {
  const { db } = given();
  const run = await startRun(db, REFERRALS);
  const inTime = watchAnswer(db, run);
  await inTime.beforeSend();
  inTime.onRequest({ ...event, status: 200 });
  await inTime.end();
  expect(await readWait()).toEqual(NONE);

  const late = watchAnswer(db, run, 0);
  await late.beforeSend();
  await expect.poll(readWait).toEqual(attempt(1));
  late.onRequest({ ...event, status: null });
  await late.beforeSend();
  await expect.poll(readWait).toEqual(attempt(2));
  // Throttled: the wait after it is the budget's.
  late.onRequest({ ...event, status: 429 });
  await late.end();
  expect(await readWait()).toEqual(NONE);
});

test('a run that is taken up waits for nothing yet, and its former process notes nothing more', async () => {
  const { db, database } = given();
  await database.pool.query(
    `update sync_runs set checkpoint = '{}', unanswered_since = now(), unanswered_attempt = 3 where state = 'running'`,
  );
  const { run } = await openRun(db, REFERRALS);
  expect(await readWait()).toEqual(NONE);
  const former = watchAnswer(db, { id: run.id, attempt: run.attempt - 1 }, 0);
  await former.beforeSend();
  await former.beforeSend();
  await former.end();
  expect(await readWait()).toEqual(NONE);
});
