// The messages as rows: who may send one, and what is known of it afterwards.

import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { transact } from '../../../src/db/transact.ts';
import {
  claimNotices,
  type DueNotice,
  putOff,
  readPending,
  settleSent,
  settleUnsent,
  tryAgainNow,
} from '../../../src/observe/alerts/outbox.ts';
import { sendDue } from '../../../src/observe/alerts/send-due.ts';
import { ALERT_TIMINGS } from '../../../src/observe/alerts/timings.ts';
import { makeWebhook } from '../../../src/observe/alerts/webhook.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { observe } from '../metrics/scrape.ts';

let pool: TestDatabase['pool'];
let db: Database;

beforeEach(async () => {
  ({ db, pool } = await createTestDatabase());
  await pool.query(`
    with alert as (
      insert into alerts (code, what, fix, opened_at) values ('books_differ', 'w', 'f', now()) returning id
    )
    insert into alert_notices (alert_id, kind, channel) select id, 'opened', 'webhook' from alert`);
});

const readDue = async (): Promise<DueNotice[]> => {
  const pending = await transact(db, (trx) => readPending(trx, ['webhook']));
  return pending.map((notice) => ({ ...notice, program: observe(db) }));
};
const claim = async () => (await claimNotices(await readDue(), ALERT_TIMINGS))[0] ?? null;
const read = async () => {
  const { rows } = await pool.query(
    'select state, is_in_doubt, attempts, next_attempt_at <= clock_timestamp() as is_due from alert_notices',
  );
  return rows[0];
};
const endClaim = () => pool.query(`update alert_notices set claimed_until = now() - interval '1 second'`);

test('a message whose claim ran out may have arrived: whoever claims it next knows of the doubt', async () => {
  expect(await claim()).not.toBe(null);
  expect(await read()).toMatchObject({ is_in_doubt: false, attempts: 1 });
  expect(await claim()).toBe(null);
  await endClaim();
  expect(await claim()).not.toBe(null);
  expect(await read()).toMatchObject({ is_in_doubt: true, attempts: 2 });
});

test('what was sent is noted as sent, also where another worker has given it up meanwhile', async () => {
  const first = await claim();
  await endClaim();
  const second = await claim();
  if (first === null || second === null) throw new Error('nothing was claimed');
  await settleUnsent([second], { state: 'given_up', code: 'HTTP_400' });
  expect(await read()).toMatchObject({ state: 'given_up' });
  await settleSent([first]);
  expect(await read()).toMatchObject({ state: 'sent', is_in_doubt: false });
});

test('a worker whose claim has ended leaves the message to the one that has it, whatever its own end', async () => {
  const first = await claim();
  await endClaim();
  await claim();
  if (first === null) throw new Error('nothing was claimed');
  const before = await read();
  await putOff([first], { reasonCode: 'ETIMEDOUT', mayHaveArrived: true }, 0);
  await settleUnsent([first], { state: 'given_up', code: 'HTTP_400' });
  expect(await read()).toEqual(before);
  expect(await claim()).toBe(null);
});

test('a doubt stays, whatever keeps the message from arriving after that', async () => {
  const fail = async (mayHaveArrived: boolean) => {
    const notice = await claim();
    if (notice === null) throw new Error('nothing was claimed');
    await putOff([notice], { reasonCode: 'ETIMEDOUT', mayHaveArrived }, 0);
  };
  await fail(true);
  await fail(false);
  expect(await read()).toMatchObject({ is_in_doubt: true, attempts: 2 });
  expect(await claim()).not.toBe(null);
});

test('a message says since when it is wrong; where that is not known, since when it was noticed', async () => {
  await pool.query(`update alerts set since = '2026-01-01T00:00:00Z', noticed_at = '2026-01-02T00:00:00Z'`);
  expect(await claim()).toMatchObject({ since: '2026-01-01T00:00:00Z' });
  await pool.query('update alerts set since = null');
  await endClaim();
  expect(await claim()).toMatchObject({ since: '2026-01-02T00:00:00Z' });
});

test.each([
  [2, 'pending'],
  [4, 'given_up'],
])('a message that nobody took for %i days is %s', async (days, state) => {
  await pool.query('update alert_notices set made_at = now() - make_interval(days => $1)', [days]);
  // Nobody listens there.
  const webhook = makeWebhook({ url: 'http://127.0.0.1:9', proxy: null });
  await sendDue(webhook, [await readDue()], ALERT_TIMINGS, new AbortController().signal);
  expect(await read()).toMatchObject({ state, attempts: 1, is_in_doubt: false });
});

test.each([
  ['HTTP_404', true],
  ['ETIMEDOUT', true],
  // What a receiver asked for itself holds on.
  ['HTTP_429', false],
  ['HTTP_503', false],
])('a start of a worker tries again what waits after %s: %s', async (code, isDue) => {
  await pool.query(
    `update alert_notices set last_error_code = $1, next_attempt_at = now() + interval '1 hour'`,
    [code],
  );
  await tryAgainNow(db, ['email']);
  expect(await read()).toMatchObject({ is_due: false });
  await tryAgainNow(db, ['webhook']);
  expect(await read()).toMatchObject({ is_due: isDue });
});
