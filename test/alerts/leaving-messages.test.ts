// A message that has left: a worker that stops waits for the answer, since nobody else could know whether it arrived.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Channel } from '../../src/alerts/channel.ts';
import { makeEmail } from '../../src/alerts/email.ts';
import { describeTest } from '../../src/alerts/message.ts';
import { sendDue } from '../../src/alerts/send-due.ts';
import { ALERT_TIMINGS } from '../../src/alerts/timings.ts';
import { makeWebhook } from '../../src/alerts/webhook.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makeLogger } from '../../src/log.ts';
import { startGate, startMailServer, startReceiver } from './receivers.ts';
import { createWellMirror, readNotices } from './watching.ts';

const MESSAGE = describeTest({ schema: 'mirror', database: null });
const to = ['ops@example.com'];

const send = (channel: Channel, { signal }: AbortController) =>
  channel.send(MESSAGE, { mayLeave: () => true, signal, timeoutMs: 60_000 });

test('a webhook that is stopped once its message has left still hears the answer', async () => {
  const stopping = new AbortController();
  const receiver = await startReceiver();
  receiver.answer = () => {
    stopping.abort(new Error('stopped'));
    return { status: 200 };
  };
  expect(await send(makeWebhook({ url: receiver.url, proxy: null }), stopping)).toBe(null);
  expect(receiver.texts()).toHaveLength(1);
});

test('an e-mail that is stopped once it has left still hears the answer', async () => {
  const stopping = new AbortController();
  const { port } = await startMailServer({
    onData(stream, _, done) {
      stream.resume().on('end', () => {
        stopping.abort(new Error('stopped'));
        done();
      });
    },
  });
  const email = makeEmail({ to, from: 'mirror@example.com', smtpUrl: `smtp://127.0.0.1:${port}` });
  expect(await send(email, stopping)).toBe(null);
});

test.each(['webhook', 'email'] as const)(
  'a message by %s whose claim has too little time left is kept back, and taken up again at once',
  async (kind) => {
    const database = await createWellMirror();
    const db = makeDatabase(database.pool);
    const log = makeLogger('silent');
    const receiver = await startReceiver();
    const { port, mails } = await startMailServer();
    const channel = {
      webhook: makeWebhook({ url: receiver.url, proxy: null }),
      email: makeEmail({ to, from: 'mirror@example.com', smtpUrl: `smtp://127.0.0.1:${port}` }),
    }[kind];
    await database.pool.query(
      `with alert as (
         insert into alerts (code, what, fix, opened_at) values ('books_differ', 'w', 'f', now()) returning id
       )
       insert into alert_notices (alert_id, kind, channel) select id, 'opened', $1 from alert`,
      [kind],
    );
    const { signal } = new AbortController();
    const late = { ...ALERT_TIMINGS, leastLeftMs: ALERT_TIMINGS.claimMs + 1 };
    await sendDue({ db, log }, channel, late, signal);
    expect([receiver.received, mails]).toEqual([[], []]);
    expect(await readNotices(database)).toMatchObject([{ state: 'pending', last_error_code: null }]);
    await sendDue({ db, log }, channel, ALERT_TIMINGS, signal);
    expect(receiver.received.length + mails.length).toBe(1);
    expect(await readNotices(database)).toMatchObject([{ state: 'sent' }]);
  },
);

test.each([
  [
    'an e-mail',
    (port: number) => makeEmail({ to, from: 'm@example.com', smtpUrl: `smtp://127.0.0.1:${port}` }),
  ],
  ['a webhook', (port: number) => makeWebhook({ url: `https://127.0.0.1:${port}`, proxy: null })],
])('%s that is stopped while its receiver says nothing is not waited for', async (_, makeChannel) => {
  const gate = await startGate(1);
  gate.close();
  const stopping = new AbortController();
  const sending = send(makeChannel(gate.port), stopping);
  await expect.poll(gate.connections).toBe(1);
  stopping.abort(new Error('stopped'));
  await expect(sending).rejects.toThrow('stopped');
});

test('a mail server that never comes to the end of its answer has failed in time', async () => {
  const server = createServer((socket) => {
    socket.write('220 here\r\n');
    const talking = setInterval(() => socket.write('250-more\r\n'), 20);
    socket.on('error', () => {}).on('close', () => clearInterval(talking));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const email = makeEmail({ to, from: 'mirror@example.com', smtpUrl: `smtp://127.0.0.1:${port}` });
  const control = { mayLeave: () => true, signal: new AbortController().signal, timeoutMs: 500 };
  await expect(email.send(MESSAGE, control)).rejects.toMatchObject({
    reasonCode: 'ETIMEDOUT',
    mayHaveArrived: false,
  });
});

test('what is stopped before it begins sends nothing', async () => {
  const receiver = await startReceiver();
  const { port, mails } = await startMailServer();
  const stopping = new AbortController();
  stopping.abort(new Error('stopped'));
  const webhook = makeWebhook({ url: receiver.url, proxy: null });
  const email = makeEmail({ to, from: 'mirror@example.com', smtpUrl: `smtp://127.0.0.1:${port}` });
  await expect(send(webhook, stopping)).rejects.toThrow('stopped');
  await expect(send(email, stopping)).rejects.toThrow('stopped');
  expect([receiver.received, mails]).toEqual([[], []]);
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
    await expect(send(channel, new AbortController()), given).rejects.toMatchObject({ retryAfterMs });
  }
});

test('a server that refuses everybody before a message has left does not end that message', async () => {
  const { port } = await startMailServer({
    onRcptTo: (_, __, done) => done(Object.assign(new Error('no'), { responseCode: 550 })),
  });
  const email = makeEmail({ to, from: 'mirror@example.com', smtpUrl: `smtp://127.0.0.1:${port}` });
  await expect(send(email, new AbortController())).rejects.toMatchObject({
    retry: 'soon',
    reasonCode: 'SMTP_550',
    mayHaveArrived: false,
  });
});
