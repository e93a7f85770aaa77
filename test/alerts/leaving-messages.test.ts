// A message that has left: a worker that stops waits for the answer, since nobody else could know whether it arrived.

import { expect, test } from 'vitest';
import type { Channel } from '../../src/alerts/channel.ts';
import { makeEmail } from '../../src/alerts/email.ts';
import { describeTest } from '../../src/alerts/message.ts';
import { makeWebhook } from '../../src/alerts/webhook.ts';
import { startMailServer, startReceiver } from './receivers.ts';

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
