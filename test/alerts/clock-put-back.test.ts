// Alerts where the database's clock was a day ahead and was put back: what was noted by the old time holds up nothing.

import { expect, test } from 'vitest';
import { ALERT_TIMINGS } from '../../src/alerts/timings.ts';
import { makeWebhook } from '../../src/alerts/webhook.ts';
import { startReceiver } from './receivers.ts';
import { createWellMirror, readAlertStates, refuseSecret, startWatcher, waitForLooks } from './watching.ts';

test('the next look does not wait for the old time', async () => {
  const database = await createWellMirror();
  await database.pool.query("update alert_watch set next_look_at = clock_timestamp() + interval '1 day'");
  startWatcher(database);
  await refuseSecret(database);
  await expect.poll(() => readAlertStates(database)).toEqual(['secret_refused open']);
});

test('what is wrong, or well again, is so for as long as ever from then on', async () => {
  const database = await createWellMirror();
  await database.pool.query(`
    insert into alerts (code, what, fix, noticed_at, opened_at, well_at) values
      ('queue_away', 'away', 'doctor', now() + interval '1 day', null, null),
      ('payments_failed', 'failed', 'retry', now() + interval '1 day', now() + interval '1 day', now() + interval '1 day')`);
  const checkQueue = async () => {
    throw new Error('away');
  };
  startWatcher(database, { checkQueue });
  await waitForLooks(database);
  expect(await readAlertStates(database)).toEqual(['queue_away noticed', 'payments_failed open']);
  const { rows } = await database.pool.query("select well_at from alerts where code = 'queue_away'");
  expect(rows).toEqual([{ well_at: null }]);
  await database.pool.query(
    "update alerts set noticed_at = noticed_at - interval '6 minutes', well_at = well_at - interval '6 minutes'",
  );
  await expect.poll(() => readAlertStates(database)).toEqual(['queue_away open', 'payments_failed resolved']);
});

test('a message is sent that was put off, and one that a worker of the old time had claimed', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  await refuseSecret(database);
  await database.pool.query(`
    insert into alerts (code, what, fix, opened_at) values ('secret_refused', 'refused', 'doctor', now());
    insert into alert_notices (alert_id, kind, channel, attempts, next_attempt_at, claimed_until)
    select id, 'opened', 'webhook', 1, now() + interval '1 day', now() + interval '1 day' from alerts`);
  const channels = [makeWebhook({ url: receiver.url, proxy: null })];
  startWatcher(database, { channels });
  await waitForLooks(database);
  // Its worker may be alive: its claim holds on for as long as any.
  expect(receiver.received).toEqual([]);
  const span = `${ALERT_TIMINGS.claimMs} milliseconds`;
  const { rows } = await database.pool.query(
    `update alert_notices set claimed_until = claimed_until - $1::interval
     returning claimed_until <= clock_timestamp() as is_over`,
    [span],
  );
  expect(rows).toEqual([{ is_over: true }]);
  await expect.poll(() => receiver.texts().length).toBe(1);
});
