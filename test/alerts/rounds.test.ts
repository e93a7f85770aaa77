// A round of the watch: how often the disk is measured, a queue that never answers, and what is logged of each message.

import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Channel } from '../../src/alerts/channel.ts';
import { makeEmail } from '../../src/alerts/email.ts';
import { sendDue } from '../../src/alerts/send-due.ts';
import { ALERT_TIMINGS } from '../../src/alerts/timings.ts';
import { makeWebhook } from '../../src/alerts/webhook.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makeGrowth } from '../reports/make-growth.ts';
import { startGate, startMailServer, startReceiver } from './receivers.ts';
import { createWellMirror, readAlertStates, refuseSecret, startWatcher, waitForLooks } from './watching.ts';

test('the growth of the tables is measured by the first round, and by none soon after it', async () => {
  const database = await createWellMirror();
  let measured = 0;
  const readGrowth = async () => {
    measured += 1;
    return makeGrowth();
  };
  startWatcher(database, { readGrowth });
  await waitForLooks(database, 4);
  expect(measured).toBe(1);
});

test('a queue that never answers is away, and holds up no look', async () => {
  const database = await createWellMirror();
  startWatcher(database, { checkQueue: () => new Promise(() => {}) });
  await expect.poll(() => readAlertStates(database)).toEqual(['queue_away noticed']);
});

test('a round that fails while its worker stops is no warning', async () => {
  const database = await createWellMirror();
  const gate = await startGate(1);
  gate.close();
  const channels = [makeWebhook({ url: `https://127.0.0.1:${gate.port}`, proxy: null })];
  const watcher = startWatcher(database, { channels, timings: { sendTimeoutMs: 500 } });
  await refuseSecret(database);
  await expect.poll(gate.connections).toBe(1);
  await watcher.stop();
  expect(watcher.warnings).toEqual([]);
});

describe('of a message is logged', () => {
  /** Sends one message through the channel; returns what was logged. */
  async function send(channel: Channel): Promise<unknown[]> {
    const { pool } = await createWellMirror();
    await pool.query(
      `with alert as (
         insert into alerts (code, what, fix, opened_at) values ('books_differ', 'w', 'f', now()) returning id
       )
       insert into alert_notices (alert_id, kind, channel) select id, 'opened', $1 from alert`,
      [channel.kind],
    );
    const lines: unknown[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
    await sendDue({ db: makeDatabase(pool), log }, channel, ALERT_TIMINGS, new AbortController().signal);
    return lines;
  }

  const LEVELS = pino.levels.values;

  test('that it was sent, and which of its addresses were refused', async () => {
    const { port } = await startMailServer({
      onRcptTo: ({ address }, _, done) => done(address.startsWith('ops') ? null : new Error('unknown')),
    });
    const to = ['ops@example.com', 'x@example.com'];
    const email = makeEmail({ to, from: 'mirror@example.com', smtpUrl: `smtp://127.0.0.1:${port}` });
    expect(await send(email)).toMatchObject([
      { level: LEVELS.info, msg: 'alert.notice_sent', code: 'books_differ', channel: 'email', attempt: 1 },
      {
        level: LEVELS.warn,
        msg: 'alert.notice_refused_in_part',
        reason: expect.stringContaining('refuses 1 address'),
      },
    ]);
  });

  test.each([
    [503, { level: LEVELS.warn, msg: 'alert.notice_failed', waits_ms: expect.any(Number) }],
    [400, { level: LEVELS.error, msg: 'alert.notice_given_up', waits_ms: null }],
    [413, { level: LEVELS.error, msg: 'alert.notice_given_up', waits_ms: null }],
    [422, { level: LEVELS.error, msg: 'alert.notice_given_up', waits_ms: null }],
  ])('that it failed with %i, and whether it is tried again', async (status, line) => {
    const receiver = await startReceiver();
    receiver.answer = () => ({ status });
    expect(await send(makeWebhook({ url: receiver.url, proxy: null }))).toMatchObject([line]);
  });
});
