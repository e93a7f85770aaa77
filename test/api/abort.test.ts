// An abort ends every call at every stage with the caller's own reason, and never costs a permit or an attempt.

import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { TakePermit } from '../../src/api/permit.ts';
import { failureOf, makeClient } from './make-client.ts';
import { rawAnswer, startRawProgram } from './raw-program.ts';

const ID = '0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e';
const CALLS = [
  { what: 'a list', call: list },
  { what: 'a GET', call: get },
  { what: 'a PUT', call: put },
];

type Api = ReturnType<typeof makeClient>['api'];
function list(api: Api, signal: AbortSignal) {
  return api.list('affiliates', { page: 1, limit: 100 }, { signal });
}
function get(api: Api, signal: AbortSignal) {
  return api.getCommission(ID, { signal });
}
function put(api: Api, signal: AbortSignal) {
  return api.putCommission(ID, { paid_at: null }, { signal });
}

describe.each(CALLS)('$what that is aborted', ({ call }) => {
  const reason = { why: 'shutting down' };

  it('before it began takes no permit and sends nothing', async () => {
    const program = await startRawProgram((socket) => socket.destroy());
    const { api, permits } = makeClient({ url: program.url });
    expect(await failureOf(call(api, AbortSignal.abort(reason)))).toBe(reason);
    expect(permits.granted()).toBe(0);
    expect(program.requests).toHaveLength(0);
  });

  it('while it waits for a permit sends nothing', async () => {
    const program = await startRawProgram((socket) => socket.destroy());
    const controller = new AbortController();
    const takePermit: TakePermit = async (signal) => {
      if (signal === undefined) throw new Error('the signal was not passed on');
      const aborted = once(signal, 'abort');
      controller.abort(reason);
      await aborted;
      throw new Error('the budget’s own words for an abort');
    };
    const { api } = makeClient({ url: program.url }, takePermit);
    expect(await failureOf(call(api, controller.signal))).toBe(reason);
    expect(program.requests).toHaveLength(0);
  });

  it('as the permit is granted returns it unused, sends nothing, and counts as no request', async () => {
    const program = await startRawProgram((socket) => socket.destroy());
    const controller = new AbortController();
    const { permits } = makeClient({ url: program.url });
    const { api, events, lines } = makeClient({ url: program.url }, async () => {
      const permit = await permits.takePermit();
      controller.abort(reason);
      return permit;
    });
    expect(await failureOf(call(api, controller.signal))).toBe(reason);
    expect([permits.returned, permits.unused()]).toEqual([[], 1]);
    expect([program.requests, events]).toEqual([[], []]);
    expect(lines.join('')).not.toContain('api.request_sent');
  });

  it.each([
    { stage: 'the answer', head: '' },
    { stage: 'the rest of the body', head: rawAnswer('200 OK', '{', { 'content-length': '100' }) },
  ])('while it waits for $stage cuts the connection and returns the permit', async ({ head }) => {
    const cut = Promise.withResolvers<void>();
    const program = await startRawProgram((socket) => {
      socket.on('close', () => cut.resolve());
      if (head === '') controller.abort(reason);
      else socket.write(head, () => setImmediate(() => controller.abort(reason)));
    });
    const controller = new AbortController();
    const { api, permits, waits, events } = makeClient({ url: program.url });
    expect(await failureOf(call(api, controller.signal))).toBe(reason);
    await cut.promise;
    expect(program.requests).toHaveLength(1);
    expect(permits.returned).toEqual([null]);
    expect(events).toMatchObject([{ status: null }]);
    expect(waits()).toBe(0);
  });

  it('while it waits for the next attempt makes none', async () => {
    const program = await startRawProgram((socket) => socket.write(rawAnswer('429 Too Many Requests', '{}')));
    const controller = new AbortController();
    const attempts = { firstWaitMs: 3_600_000, longestWaitMs: 3_600_000 };
    const { api, waits } = makeClient({ url: program.url, attempts });
    const failure = failureOf(call(api, controller.signal));
    await expect.poll(waits).toBe(1);
    controller.abort(reason);
    expect(await failure).toBe(reason);
    expect(program.requests).toHaveLength(1);
  });
});

describe('a long-lived signal', () => {
  it('is left without listeners by calls that have ended', async () => {
    const program = await startRawProgram((socket) =>
      socket.write(rawAnswer('404 Not Found', '{"error":"x"}')),
    );
    const { api } = makeClient({ url: program.url });
    const { signal } = new AbortController();
    let listening = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listening += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listening -= 1;
      remove(...args);
    };
    for (let calls = 0; calls < 5; calls += 1) await failureOf(get(api, signal));
    expect(listening).toBe(0);
  });
});
