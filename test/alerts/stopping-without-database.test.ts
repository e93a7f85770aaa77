// A worker that is stopped while the database is away, and a message of its own has arrived: it ends all the same.

import { expect, test } from 'vitest';
import { makeWebhook } from '../../src/alerts/webhook.ts';
import { startParting } from './parting.ts';
import { createWellMirror, readNotices, refuseSecret, startWatcher } from './watching.ts';

test('it does not wait for the database, and whoever claims the message next knows of the doubt', async () => {
  const database = await createWellMirror();
  const { receiver, letBackIn } = await startParting(database);
  const channels = [makeWebhook({ url: receiver.url, proxy: null })];
  // For as long as its claim it would try to note that it was sent.
  const watcher = startWatcher(database, { channels, timings: { claimMs: 3_600_000 } });
  await refuseSecret(database);
  await expect.poll(() => receiver.texts().length).toBe(1);
  await watcher.stop();
  await letBackIn();
  expect(await readNotices(database)).toMatchObject([{ state: 'pending' }]);
  const { rows } = await database.pool.query(
    'select claimed_until > clock_timestamp() as is_claimed from alert_notices',
  );
  expect(rows).toEqual([{ is_claimed: true }]);
});
