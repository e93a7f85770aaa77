// Open pages hear that something changed: one poll for all of them, none where nobody looks, and no end that waits.

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeLogger } from '../../src/log.ts';
import { makeLive } from '../../src/web/live.ts';
import { createTestDatabase } from '../support/database.ts';
import { openStatusPage } from '../support/status-page.ts';

const log = makeLogger('silent');
const TIMINGS = { pollMs: 1000, tickMs: 1e9, mostListeners: 2 };

/** Returns the answer's stream, once its head is there. */
async function open(url: string): Promise<IncomingMessage> {
  const sent = request(url, { agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  return response;
}

async function untilSays(stream: IncomingMessage, text: string): Promise<void> {
  let heard = '';
  for await (const part of stream) {
    heard += part;
    if (heard.includes(text)) return;
  }
  throw new Error(`the stream ended without ${text}`);
}

/** Returns two connected responses of a real server, and their readers. */
async function connect(): Promise<{ responses: ServerResponse[]; readers: Promise<IncomingMessage>[] }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const responses: ServerResponse[] = [];
  const readers: Promise<IncomingMessage>[] = [];
  for (let count = 0; count < 3; count += 1) {
    readers.push(open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    responses.push(response);
  }
  return { responses, readers };
}

test('one poll serves all, tells them what changed, and ends with the last of them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  let mark = 'a';
  let reads = 0;
  const readMark = async () => {
    reads += 1;
    return mark;
  };
  const live = makeLive({ log, readMark }, TIMINGS);
  const { responses, readers } = await connect();
  const [first, second, third] = responses as [ServerResponse, ServerResponse, ServerResponse];
  expect([live.listen(first), live.listen(second), live.listen(third)]).toEqual([true, true, false]);
  third.end();
  const streams = [await readers[0], await readers[1]] as [IncomingMessage, IncomingMessage];
  await vi.advanceTimersByTimeAsync(3000);
  const before = reads;
  expect(before).toBeGreaterThan(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(reads).toBe(before + 1);
  mark = 'b';
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all(streams.map((stream) => untilSays(stream, 'event: changed')));
  const gone = [once(first, 'close'), once(second, 'close')];
  for (const stream of streams) stream.destroy();
  await Promise.all(gone);
  await vi.advanceTimersByTimeAsync(1000);
  const after = reads;
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reads).toBe(after);
});

test('a page that takes nothing any more is dropped, and the others hear on', async () => {
  let mark = 0;
  const readMark = async () => {
    mark += 1;
    return String(mark);
  };
  const live = makeLive({ log, readMark }, { ...TIMINGS, pollMs: 10 });
  onTestFinished(live.close);
  const { responses, readers } = await connect();
  const [slow, quick, third] = responses as [ServerResponse, ServerResponse, ServerResponse];
  third.end();
  live.listen(slow);
  live.listen(quick);
  const frozen = await readers[0];
  // It ends in the middle.
  frozen?.on('error', () => {});
  // More than the system takes for somebody who does not read.
  const dropped = once(slow, 'close');
  slow.write(Buffer.alloc(64 * 2 ** 20));
  await dropped;
  expect(slow.writableFinished).toBe(false);
  await untilSays((await readers[1]) as IncomingMessage, 'event: changed');
  expect(quick.destroyed).toBe(false);
});

test('whoever left before the site was loaded is not listened for', async () => {
  let reads = 0;
  const readMark = async () => {
    reads += 1;
    return 'a';
  };
  const live = makeLive({ log, readMark }, { ...TIMINGS, pollMs: 10 });
  onTestFinished(live.close);
  const { responses, readers } = await connect();
  const [gone, ...others] = responses as [ServerResponse, ...ServerResponse[]];
  for (const reader of readers) reader.catch(() => undefined);
  for (const other of others) other.end();
  const closed = once(gone, 'close');
  gone.destroy();
  await closed;
  live.listen(gone);
  await setTimeout(50);
  expect(reads).toBe(0);
});

test('a look that is under way while the page is closed tells nobody any more', async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<string>();
  const readMark = () => {
    asked.resolve();
    return answered.promise;
  };
  const live = makeLive({ log, readMark }, { ...TIMINGS, tickMs: 0 });
  const { responses, readers } = await connect();
  const [response, ...others] = responses as [ServerResponse, ...ServerResponse[]];
  for (const reader of readers) reader.catch(() => undefined);
  for (const other of others) other.end();
  // Without anybody who listens for it, it would end the worker.
  const failed = vi.fn();
  response.on('error', failed);
  live.listen(response);
  await asked.promise;
  live.close();
  answered.resolve('a');
  await once(response, 'close');
  expect(failed).not.toHaveBeenCalled();
});

test('an open page hears of a run that began, and the server ends while it listens', async () => {
  const database = await createTestDatabase();
  const page = await openStatusPage(database);
  const stream = await open(`${page.url}/live`);
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
  let isHeard = false;
  const heard = untilSays(stream, 'event: changed').then(() => {
    isHeard = true;
  });
  // The server may not have looked yet when the first of them is there.
  while (!isHeard) {
    await database.pool.query(
      `insert into sync_runs (resource, mode, state, finished_at) values ('referrals', 'delta', 'interrupted', now())`,
    );
    await Promise.race([heard, setTimeout(200)]);
  }
  const other = await open(`${page.url}/live`);
  await page.close();
  other.resume();
  await once(other, 'close');
});
