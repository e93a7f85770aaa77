// The watch on a real database and real receivers: one message when something is wrong, one when it is well again, and
// no second one but where nobody can know whether the first arrived.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeWebhook } from '../../src/alerts/webhook.ts';
import { makeGrowth } from '../reports/make-growth.ts';
import type { TestDatabase } from '../support/database.ts';
import { startParting } from './parting.ts';
import { type Receiver, startReceiver } from './receivers.ts';
import {
  createWellMirror,
  FAST,
  readAlertStates,
  readNotices,
  refuseSecret,
  startWatcher,
  waitForLooks,
} from './watching.ts';

const REFUSED = 'affiliate-mirror: the program refuses the API secret, and all workers are paused';
const AGAIN = `affiliate-mirror: well again: the program refuses the API secret, and all workers are paused`;

const firstLines = ({ texts }: Receiver) => texts().map((text) => text.split('\n')[0]);
const webhook = ({ url }: { url: string }) => makeWebhook({ url, proxy: null });

test('five workers that watch one mirror send one message when it is wrong, and one when it is well again', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  for (let count = 0; count < 5; count += 1) startWatcher(database, { channels: [webhook(receiver)] });
  await waitForLooks(database);
  expect(receiver.received).toEqual([]);
  await refuseSecret(database);
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED]);
  await waitForLooks(database, 5);
  await refuseSecret(database, false);
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED, AGAIN]);
  await waitForLooks(database, 5);
  expect(receiver.received).toHaveLength(2);
  // What is wrong once more is another cause.
  await refuseSecret(database);
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED, AGAIN, REFUSED]);
  const keys = receiver.received.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(3);
});

test('a receiver that is down for a while gets the message later, once', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  receiver.answer = () => ({ status: 503 });
  for (let count = 0; count < 2; count += 1) startWatcher(database, { channels: [webhook(receiver)] });
  await refuseSecret(database);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(3);
  expect(await readNotices(database)).toMatchObject([{ state: 'pending', last_error_code: 'HTTP_503' }]);
  receiver.answer = () => ({ status: 200 });
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED]);
  await waitForLooks(database, 5);
  expect(firstLines(receiver)).toEqual([REFUSED]);
  // Every attempt at it had the same key.
  expect(new Set(receiver.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('what keeps each of two channels from sending is warned of', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  await database.pool.query(`
    create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no claim of %', new.channel; end $$;
    create trigger refuse before update on alert_notices for each row execute function refuse()`);
  const channels = (['webhook', 'email'] as const).map((kind) => ({ ...webhook(receiver), kind }));
  const { warnings } = startWatcher(database, { channels });
  await refuseSecret(database);
  await expect
    .poll(() => new Set(warnings.map(String)))
    .toEqual(new Set(['error: no claim of webhook', 'error: no claim of email']));
});

test('growth that cannot be measured is warned of, and only the alert of the disk waits for it', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  const full = startWatcher(database, { readGrowth: async () => makeGrowth(0) });
  await expect.poll(() => readAlertStates(database)).toEqual(['disk_filling open']);
  await full.stop();
  const readGrowth = async () => {
    throw new Error('no such directory');
  };
  const { warnings } = startWatcher(database, { channels: [webhook(receiver)], readGrowth });
  await refuseSecret(database);
  await expect.poll(() => firstLines(receiver)).toContain(REFUSED);
  await waitForLooks(database);
  const { rows } = await database.pool.query('select code, well_at from alerts order by id');
  expect(rows).toEqual([
    { code: 'disk_filling', well_at: null },
    { code: 'secret_refused', well_at: null },
  ]);
  expect(new Set(warnings.map(String))).toEqual(new Set(['Error: no such directory']));
});

test('what is well again before anybody could hear of it is not sent at all', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  receiver.answer = () => ({ status: 500 });
  const watcher = startWatcher(database, {
    channels: [webhook(receiver)],
    timings: { firstPauseMs: 3_600_000, longestPauseMs: 3_600_000 },
  });
  await refuseSecret(database);
  await expect.poll(() => receiver.received.length).toBe(1);
  receiver.answer = () => ({ status: 200 });
  await refuseSecret(database, false);
  await expect.poll(() => readAlertStates(database)).toEqual(['secret_refused resolved']);
  await watcher.stop();
  startWatcher(database, { channels: [webhook(receiver)] });
  await waitForLooks(database);
  expect(receiver.received).toHaveLength(1);
  expect(await readNotices(database)).toMatchObject([{ kind: 'opened', state: 'skipped' }]);
});

test('what a receiver may have taken without an answer is followed by the word that it is well again', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  receiver.answer = () => null;
  const timings = { sendTimeoutMs: 200, firstPauseMs: 3_600_000, longestPauseMs: 3_600_000 };
  const watcher = startWatcher(database, { channels: [webhook(receiver)], timings });
  await refuseSecret(database);
  await expect
    .poll(() => readNotices(database))
    .toMatchObject([{ state: 'pending', last_error_code: 'ETIMEDOUT' }]);
  receiver.answer = () => ({ status: 200 });
  await refuseSecret(database, false);
  await expect.poll(() => readAlertStates(database)).toEqual(['secret_refused resolved']);
  await watcher.stop();
  // A restart does not wait for an hour.
  startWatcher(database, { channels: [webhook(receiver)], timings });
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED, AGAIN]);
});

test('a receiver that answers 200 and leaves its answer open has taken the message, and is left at once', async () => {
  const database = await createWellMirror();
  let posts = 0;
  let ended = 0;
  const server = createServer((request, response) => {
    posts += 1;
    response.on('close', () => {
      ended += 1;
    });
    request.resume().on('end', () => response.writeHead(200).write('o'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  startWatcher(database, { channels: [webhook({ url: `http://127.0.0.1:${port}/` })] });
  await refuseSecret(database);
  await expect.poll(() => readNotices(database)).toMatchObject([{ state: 'sent', last_error_code: null }]);
  await expect.poll(() => ended).toBe(1);
  await waitForLooks(database);
  expect(posts).toBe(1);
});

test('a receiver that asks for a pause is left alone for that long, by the clock of the database', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  receiver.answer = () => ({ status: 429, headers: { 'retry-after': '1800' } });
  const timings = { longestPauseMs: 3_600_000 };
  startWatcher(database, { channels: [webhook(receiver)], timings });
  await refuseSecret(database);
  const readWait = async () => {
    const { rows } = await database.pool.query<{ minutes: number }>(`
      select round(extract(epoch from next_attempt_at - clock_timestamp()) / 60)::int as minutes
      from alert_notices where last_error_code = 'HTTP_429'`);
    return rows[0]?.minutes;
  };
  await expect.poll(readWait).toBe(30);
  // Nor does a restart break in on it.
  startWatcher(database, { channels: [webhook(receiver)], timings });
  await waitForLooks(database);
  expect(receiver.received).toHaveLength(1);
  receiver.answer = () => ({ status: 200 });
  await database.pool.query(`update alert_notices set next_attempt_at = clock_timestamp()`);
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED]);
});

test('a message that the receiver does not understand is given up, and holds up no other', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  receiver.answer = ({ body }) => ({ status: body.text.includes('secret') ? 400 : 200 });
  startWatcher(database, { channels: [webhook(receiver)] });
  await refuseSecret(database);
  await expect
    .poll(() => readNotices(database))
    .toMatchObject([{ state: 'given_up', last_error_code: 'HTTP_400' }]);
  await holdBack(database);
  await expect
    .poll(() => firstLines(receiver))
    .toEqual([expect.stringContaining('1 deletion of referrals held back')]);
  // It never heard that it was wrong.
  await refuseSecret(database, false);
  await expect.poll(() => readAlertStates(database)).toContain('secret_refused resolved');
  await waitForLooks(database);
  expect(receiver.received).toHaveLength(2);
});

test('a redirect is not followed, and an address that is gone is tried again, in case it is corrected', async () => {
  const database = await createWellMirror();
  const elsewhere = await startReceiver();
  const receiver = await startReceiver();
  receiver.answer = () => ({ status: 307, headers: { location: elsewhere.url } });
  const watcher = startWatcher(database, { channels: [webhook(receiver)] });
  await refuseSecret(database);
  await expect
    .poll(() => readNotices(database))
    .toMatchObject([{ state: 'pending', last_error_code: 'HTTP_307' }]);
  receiver.answer = () => ({ status: 404 });
  await expect
    .poll(() => readNotices(database))
    .toMatchObject([{ state: 'pending', last_error_code: 'HTTP_404' }]);
  await watcher.stop();
  expect(elsewhere.received).toEqual([]);
  startWatcher(database, { channels: [webhook(elsewhere)] });
  await expect.poll(() => firstLines(elsewhere)).toEqual([REFUSED]);
});

test('an alert that opened while no channel was set up is sent once there is one', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  const watcher = startWatcher(database);
  await refuseSecret(database);
  await expect.poll(() => readAlertStates(database)).toEqual(['secret_refused open']);
  expect(await readNotices(database)).toEqual([]);
  await watcher.stop();
  startWatcher(database, { channels: [webhook(receiver)] });
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED]);
});

test('messages go out in order: a later alert waits for the one before it', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  receiver.answer = () => ({ status: 503 });
  startWatcher(database, { channels: [webhook(receiver)] });
  await refuseSecret(database);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await holdBack(database);
  await expect.poll(() => readAlertStates(database)).toHaveLength(2);
  expect(receiver.received.every(({ body }) => body.text.startsWith(REFUSED))).toBe(true);
  receiver.answer = () => ({ status: 200 });
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED, expect.stringContaining('held back')]);
});

test('a queue that no worker reaches for two minutes is an alert; one that a single worker misses is none', async () => {
  const database = await createWellMirror();
  const away = async () => {
    throw new Error('no answer of redis at 10.0.0.1');
  };
  const watcher = startWatcher(database, { checkQueue: away });
  await expect.poll(() => readAlertStates(database)).toEqual(['queue_away noticed']);
  await database.pool.query(`update alerts set noticed_at = noticed_at - interval '100 seconds'`);
  await waitForLooks(database);
  await watcher.stop();
  startWatcher(database);
  await expect.poll(() => readAlertStates(database)).toEqual([]);
  startWatcher(database, { checkQueue: away });
  await waitForLooks(database, 6);
  expect((await readAlertStates(database)).filter((state) => state.includes('open'))).toEqual([]);
});

test('a queue that closes while its worker stops is not noticed as away', async () => {
  const database = await createWellMirror();
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<never>();
  const checkQueue = () => {
    asked.resolve();
    return closed.promise;
  };
  const watcher = startWatcher(database, { checkQueue });
  await asked.promise;
  const stopped = watcher.stop();
  closed.reject(new Error('the queue is closed'));
  await stopped;
  expect(await readAlertStates(database)).toEqual([]);
});

test('a database that goes away is waited for', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  const watcher = startWatcher(database, { channels: [webhook(receiver)] });
  await waitForLooks(database);
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'watcher' and datname = current_database()`,
  );
  await refuseSecret(database);
  await expect.poll(() => firstLines(receiver)).toEqual([REFUSED]);
  await watcher.stop();
  expect(FAST.claimMs).toBeGreaterThan(2 * FAST.sendTimeoutMs);
});

test('a message whose receipt cannot be noted, since the database is away by then, is sent once all the same', async () => {
  const database = await createWellMirror();
  const { receiver, letBackIn } = await startParting(database);
  const [sender, other] = [webhook(receiver), webhook(receiver)].map((channel) =>
    startWatcher(database, { channels: [channel] }),
  );
  await refuseSecret(database);
  await expect.poll(() => receiver.received.length).toBe(1);
  // Whichever of them does not send fails its round.
  const warnings = () => (sender?.warnings.length ?? 0) + (other?.warnings.length ?? 0);
  await expect.poll(warnings).toBeGreaterThan(2);
  receiver.answer = () => ({ status: 200 });
  await letBackIn();
  await expect.poll(() => readNotices(database)).toMatchObject([{ state: 'sent', last_error_code: null }]);
  await waitForLooks(database);
  expect(receiver.received).toHaveLength(1);
});

async function holdBack({ pool }: TestDatabase): Promise<void> {
  await pool.query(`
    with run as (
      insert into sync_runs (resource, mode, state, verified, finished_at)
      values ('referrals', 'full', 'partial', true, now()) returning id
    )
    insert into held_back_deletions (resource, record_id, run_id) select 'referrals', 'r1', id from run`);
}
