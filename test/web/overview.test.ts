// What the first page says in each state of a mirror, and that its SQL is what gives its figures.

import { beforeEach, expect, test } from 'vitest';
import type { RunningSync } from '../../src/reports/read-activity.ts';
import { progressOf } from '../../src/web/overview/running.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openStatusPage, type TestPage } from '../support/status-page.ts';

const PII_PASSWORD = 'for people only';

let database: TestDatabase;
let page: TestPage;

beforeEach(async () => {
  database = await createTestDatabase();
  const findNext = (nowMs: number) => [
    {
      what: 'Delta sync',
      variable: 'SYNC_DELTA_CRON',
      atMs: nowMs + 720_000,
      moment: '2026-01-05 02:00 Europe/Berlin (01:00 UTC)',
    },
  ];
  page = await openStatusPage(database, { findNext }, { piiPassword: PII_PASSWORD });
});

/** Returns what the page says, without its markup. */
async function read(): Promise<string> {
  const { status, body } = await page.ask();
  expect(status).toBe(200);
  const text = body.replace(/<style>[\s\S]*?<\/style>/, '').replace(/<details[\s\S]*?<\/details>/g, '');
  return text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
}

const verified = (resource: string, mode: string, ago: string) =>
  database.pool.query(
    `insert into sync_runs (resource, mode, state, verified, started_at, finished_at, distinct_seen, total_upstream)
     values ($1, $2, 'succeeded', true, now() - $3::interval, now() - $3::interval, 10, 10)`,
    [resource, mode, ago],
  );

test('well: says how old the oldest part is, how fresh each resource is, and what comes next', async () => {
  await verified('referrals', 'full', '9 hours');
  await verified('affiliates', 'full', '3 hours');
  await verified('referrals', 'delta', '12 minutes');
  const text = await read();
  expect(text).toContain('All is well.');
  expect(text).toContain('Nothing in the mirror is older than 3 hours');
  expect(text).toMatch(/referrals : as new as 12 minutes ago; everything was read 9 hours ago/);
  expect(text).toMatch(/affiliates : as new as 3 hours ago, when everything was read/);
  expect(text).toMatch(
    /Delta sync SYNC_DELTA_CRON in 12 minutes · 2026-01-05 02:00 Europe\/Berlin \(01:00 UTC\)/,
  );
});

test('failed, with what the program said as text', async () => {
  await verified('affiliates', 'full', '1 hour');
  await verified('referrals', 'full', '40 hours');
  await database.pool.query(
    `insert into sync_runs (resource, mode, state, finished_at, error_code, error)
     values ('affiliates', 'delta', 'failed', now(), 'CONTRACT_VIOLATION', '<script>alert(1)</script>')`,
  );
  const { body } = await page.ask();
  expect(body).toContain('class="verdict bad"');
  expect(body).toContain('Not well: 2 things to look at.');
  expect(body).toContain('The last sync of affiliates failed (CONTRACT_VIOLATION)');
  // The words of an error may quote a person: they are for whoever may see personal data.
  expect(body).not.toContain('alert(1)');
  const forPeople = await page.ask({ password: PII_PASSWORD });
  expect(forPeople.body).toContain('The last sync of affiliates failed (CONTRACT_VIOLATION): &lt;script&gt;');
  expect(forPeople.body).not.toContain('<script>alert');
  expect(body).toContain('<code class="run">affiliate-mirror sync referrals</code>');
});

test('a failure without words for all still has its cause, its run and what to do', async () => {
  await verified('affiliates', 'full', '4 minutes');
  await verified('referrals', 'full', '4 minutes');
  await database.pool.query(
    `insert into sync_runs (resource, mode, state, finished_at, error_code, error)
     values ('referrals', 'delta', 'failed', now(), 'DB_REFUSED', 'new row violates "no_ada"')`,
  );
  const { body } = await page.ask();
  expect(body).not.toContain('no_ada');
  expect(await read()).toMatch(
    /sync of referrals failed \(DB_REFUSED\) \(since [^)]+\)\. Postgres refused a statement .* Run 3 Run: affiliate-mirror sync referrals \. If it stays: drop the constraint/,
  );
  expect(body).toContain('<a href="/runs/3">Run 3</a>');
  // As new as ever, and not green beside a sync that failed.
  expect(body).toMatch(/referrals<\/strong>: <span class="warn">as new as 4 minutes ago/);
  expect(body).toMatch(/affiliates<\/strong>: <span class="good">as new as 4 minutes ago/);
});

test('running without an answer: says for how long, before anything has failed', async () => {
  await verified('affiliates', 'full', '4 minutes');
  await verified('referrals', 'full', '4 minutes');
  await database.pool.query(
    `insert into sync_runs (resource, mode, unanswered_since, unanswered_attempt)
     values ('referrals', 'full', now() - interval '47 seconds', 2)`,
  );
  const text = await read();
  const late = 'no answer for 4\\d s, attempt 2';
  expect(text).toMatch(new RegExp(`a sync of referrals \\(${late}\\) is running`));
  expect(text).toMatch(new RegExp(`waiting for the first page · 0 pages · ${late}`));
  expect(text).toMatch(new RegExp(`being synced now: ${late}`));
  expect((await page.ask()).body).toMatch(/referrals<\/strong>: <span class="warn">as new as 4 minutes ago/);
});

test('running, paused, and with payments under way', async () => {
  await database.pool.query(
    `insert into sync_runs (resource, mode, started_at, heartbeat_at, pages, requests, distinct_seen, total_upstream)
     values ('referrals', 'full', now() - interval '30 seconds', now(), 15, 15, 1500, 6000)`,
  );
  await database.pool.query(
    `insert into request_permits (priority, granted_at, returned_at, expires_at)
     select case when n < 4 then 'payments' else 'reads' end, now(), case when n > 1 then now() end, now() + interval '1 hour'
     from generate_series(1, 20) n`,
  );
  await database.pool.query(`update request_budget set paused_until = now() + interval '1 hour'`);
  await database.pool.query(
    `insert into commission_updates (commission_id, action, paid_at, requested_by)
     select gen_random_uuid()::text, 'pay', now(), 'test' from generate_series(1, 3) n`,
  );
  const text = await read();
  expect(text).toMatch(
    /referrals , full sync about 90 seconds left|referrals , full sync about 2 minutes left/,
  );
  expect(text).toMatch(/25 % · 1,500 of 6,000 records · 15 pages/);
  expect(text).toContain('20 of 45 requests used');
  expect(text).toMatch(/Syncs and polls 17 .*Payments 3 \( ?1 in flight ?\)/);
  expect(text).toContain('Paused until');
  expect(text).toContain('3 requests for payment under way: 0 being applied now, 3 ready to be, 0 waiting');
});

test('a payment is ready only where no writer has it and no earlier one of its commission waits', async () => {
  const [first = '', second = ''] = ['1', '2'].map((last) => `00000000-0000-4000-8000-00000000000${last}`);
  await database.pool.query(
    `insert into commission_updates (commission_id, action, paid_at) values ($1, 'pay', now()), ($1, 'unpay', null), ($2, 'pay', now());
     `
      .replaceAll('$1', `'${first}'`)
      .replaceAll('$2', `'${second}'`),
  );
  const counts = async () => /under way: ([^.]*)\./.exec(await read())?.[1];
  expect(await counts()).toBe(
    '0 being applied now, 2 ready to be, 1 waiting for a retry or an earlier request',
  );
  await database.pool.query(
    `update commission_updates set next_attempt_at = now() + interval '9 minutes' where commission_id = '${first}' and action = 'pay'`,
  );
  await database.pool.query(
    `update commission_updates set claimed_by = 'w', claimed_until = now() + interval '1 minute' where commission_id = '${second}'`,
  );
  expect(await counts()).toBe(
    '1 being applied now, 0 ready to be, 2 waiting for a retry or an earlier request',
  );
});

test('alerts: what is open and what was, and who was notified', async () => {
  expect(await read()).toContain('None so far.');
  await database.pool.query(
    `insert into alerts (code, resource, what, fix, error_code, since, opened_at, resolved_at) values
       ('stale', 'referrals', 'referrals: stale', 'affiliate-mirror sync', null, '2026-01-02T03:04:05Z', now(), null),
       ('sync_failed', 'affiliates', 'the last sync of affiliates failed', 'affiliate-mirror doctor', 'API_UNAVAILABLE',
        now(), now() - interval '1 hour', now()),
       ('queue_away', null, 'the queue does not answer', 'affiliate-mirror doctor', null, null, now(), null),
       ('throttled', null, 'noticed, and not open yet', 'affiliate-mirror status budget', null, null, null, null)`,
  );
  await database.pool.query(
    `insert into alert_notices (alert_id, kind, channel, state, attempts, last_error_code) values
       (1, 'opened', 'webhook', 'sent', 1, null), (1, 'opened', 'email', 'given_up', 9, 'EAUTH'),
       (2, 'opened', 'webhook', 'skipped', 0, null), (2, 'resolved', 'webhook', 'pending', 1, 'ECONNREFUSED')`,
  );
  const text = await read();
  expect(text).toMatch(
    /Open : referrals: stale stale · since 2026-01-02 03:04:05 notified by webhook, not notified by e-mail: given up after 9 attempts \(EAUTH\)/,
  );
  expect(text).toMatch(/Open : the queue does not answer .* not notified: no channel is set up/);
  expect(text).toMatch(
    /Resolved : the last sync of affiliates failed \( API_UNAVAILABLE \) .* resolved \S+ \S+ not notified by webhook: no longer of use, not yet notified of the end by webhook after 1 attempt/,
  );
  expect(text).not.toContain('not open yet');
});

const RUN: RunningSync = {
  id: 1,
  resource: 'referrals',
  mode: 'full',
  started_at: '2026-01-01T00:00:00Z',
  running_seconds: 60,
  silent_seconds: 0,
  requests: 30,
  pages: 30,
  distinct_seen: 3000,
  total_upstream: 12_000,
  attempt: 1,
  unanswered_seconds: null,
  unanswered_attempt: null,
  expected_requests: null,
};

test.each<[string, Partial<RunningSync>, number | null, number | null]>([
  ['by its records', {}, 0.25, 180],
  ['of a delta, by its requests', { expected_requests: 40 }, 0.75, 20],
  ['of a delta that needs more than it planned', { expected_requests: 10 }, 1, 0],
  ['before the first page', { total_upstream: null }, null, null],
  ['of an empty list', { total_upstream: 0, distinct_seen: 0 }, 1, null],
  ['that was resumed: no rate is known', { attempt: 2 }, 0.25, null],
])('the progress of a run %s', (_what, changes, share, leftSeconds) => {
  expect(progressOf({ ...RUN, ...changes })).toMatchObject({ share, leftSeconds });
});
