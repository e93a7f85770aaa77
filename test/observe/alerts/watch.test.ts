// The watch on a real database and real receivers: one message when something is wrong, one when it is well again, and
// no second one but where nobody can know whether the first arrived.

import { expect, test } from 'vitest';
import { makeWebhook } from '../../../src/observe/alerts/webhook.ts';
import type { TestDatabase } from '../../support/database.ts';
import { startParting } from './parting.ts';
import { type Receiver, startReceiver } from './receivers.ts';
import { createWellMirror, FAST, readNotices, refuseSecret, startWatcher, waitForLooks } from './watching.ts';

const REFUSED = 'affiliate-mirror: the API refuses the secret, and all workers are paused';
const AGAIN = `affiliate-mirror: Resolved: the API refuses the secret, and all workers are paused`;

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
