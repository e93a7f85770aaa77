// A message on its way: a stop waits for the answer, and no receiver is waited for without end.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeDatabase } from '../../../src/db/database.ts';
import { transact } from '../../../src/db/transact.ts';
import { makeEmail } from '../../../src/observe/alerts/email.ts';
import type { Channel } from '../../../src/observe/alerts/message.ts';
import { describeTest } from '../../../src/observe/alerts/message.ts';
import { readPending } from '../../../src/observe/alerts/outbox.ts';
import { sendDue } from '../../../src/observe/alerts/send-due.ts';
import { ALERT_TIMINGS } from '../../../src/observe/alerts/timings.ts';
import { makeWebhook } from '../../../src/observe/alerts/webhook.ts';
import { observe } from '../metrics/scrape.ts';
import { startReceiver } from './receivers.ts';
import { createWellMirror, readNotices } from './watching.ts';

const MESSAGE = describeTest({ schema: 'mirror', database: null });
const to = ['ops@example.com'];

const send = (channel: Channel, signal = AbortSignal.timeout(60_000)) => channel.send(MESSAGE, signal);

test('a worker that stops while its message is under way waits for the answer, and notes it', async () => {
  const database = await createWellMirror();
  const db = makeDatabase(database.pool);
  const stopping = new AbortController();
  const receiver = await startReceiver();
  receiver.answer = () => {
    stopping.abort(new Error('stopped'));
    return { status: 200 };
  };
  await database.pool.query(`
    with alert as (
      insert into alerts (code, what, fix, opened_at) values ('books_differ', 'w', 'f', now()) returning id
    )
    insert into alert_notices (alert_id, kind, channel) select id, 'opened', 'webhook' from alert`);
  const webhook = makeWebhook({ url: receiver.url, proxy: null });
  const pending = await transact(db, (trx) => readPending(trx, ['webhook']));
  const due = pending.map((notice) => ({ ...notice, program: observe(db) }));
  const sending = sendDue(webhook, [[...due, ...due]], ALERT_TIMINGS, stopping.signal);
  await expect(sending).rejects.toThrow('stopped');
  expect(await readNotices(database)).toMatchObject([{ state: 'sent' }]);
});

test.each([
  [
    'an e-mail',
    (port: number) => makeEmail({ to, from: 'm@example.com', smtpUrl: `smtp://127.0.0.1:${port}` }),
  ],
  ['a webhook', (port: number) => makeWebhook({ url: `http://127.0.0.1:${port}`, proxy: null })],
])('%s whose receiver says nothing has failed in time, and leaves no connection', async (_, makeChannel) => {
  let ended = 0;
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('close', () => {
        ended += 1;
      });
    socket.resume();
  });
  const port = await listen(server);
  await expect(send(makeChannel(port), AbortSignal.timeout(500))).rejects.toMatchObject({
    reasonCode: 'ETIMEDOUT',
    mayHaveArrived: true,
  });
  await expect.poll(() => ended).toBe(1);
});

test('a Retry-After of 0, or in the past, says nothing: the usual wait holds', async () => {
  const receiver = await startReceiver();
  const channel = makeWebhook({ url: receiver.url, proxy: null });
  for (const [given, retryAfterMs] of [
    ['0', null],
    ['Wed, 21 Oct 2015 07:28:00 GMT', null],
    ['7', 7000],
  ] as const) {
    receiver.answer = () => ({ status: 503, headers: { 'retry-after': given } });
    await expect(send(channel), given).rejects.toMatchObject({ retryAfterMs });
  }
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
