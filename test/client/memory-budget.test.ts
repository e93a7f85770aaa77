// The budget in memory: never more than the limit in any window, and what answers teach it.

import { describe, expect, onTestFinished, test } from 'vitest';
import type { AnsweredLimits, Permit, TakePermit } from '../../src/api/permit.ts';
import { type ClientOptions, createBudget, createClient } from '../../src/client/client.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { SECRET } from '../api/make-client.ts';
import { useSandbox } from '../api/start-test-sandbox.ts';

const current = useSandbox();
const MINUTE_MS = 60_000;
const TEN_A_MINUTE = { requests: 10, windowSeconds: 60 };

function newClient(options: Partial<ClientOptions>) {
  const client = createClient({ url: current().sandbox.url, secret: SECRET, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function answer(permit: Permit, says: Partial<AnsweredLimits> = {}): Promise<void> {
  await permit.returnAnswered({ throttled: false, limit: null, remaining: null, resetMs: null, ...says });
}

/** Returns how many permits are granted at once; they stay in flight. What is not granted then waits for long. */
async function countFree(take: TakePermit): Promise<number> {
  for (let free = 0; ; free += 1) {
    const permit = await take(AbortSignal.timeout(20)).catch(() => null);
    if (permit === null) return free;
  }
}

test('clients that share a budget never exceed the limit, and lose no request to it', async () => {
  const limit = { requests: 5, windowSeconds: 0.4 };
  current().sandbox.setRateLimit(limit);
  const budget = createBudget(limit);
  const statuses: (number | null)[] = [];
  const clients = [1, 2, 3].map(() =>
    newClient({ budget, onRequest: ({ status }) => statuses.push(status) }),
  );
  const [id = ''] = current().commissionIds;
  const calls = clients.flatMap(({ commissions }) => Array.from({ length: 7 }, () => commissions.get(id)));
  await Promise.all(calls);
  expect(statuses).toEqual(Array.from({ length: 21 }, () => 200));
});

test('a client has a budget of its own, of 45 requests in 30 seconds where nothing else is said', async () => {
  const { commissions } = newClient({});
  const [id = ''] = current().commissionIds;
  const stop = new AbortController();
  const calls = Array.from({ length: 50 }, () => commissions.get(id, { signal: stop.signal }));
  const ends = Promise.allSettled(calls);
  await Promise.all(calls.slice(0, 45));
  stop.abort();
  expect((await ends).filter(({ status }) => status === 'fulfilled')).toHaveLength(45);
});

test('a call that is given up counts on, for as long as its client would have waited', async () => {
  const rateLimit = { requests: 1, windowSeconds: 0.01 };
  const { commissions } = newClient({ rateLimit, timeoutMs: MINUTE_MS });
  const [id = ''] = current().commissionIds;
  current().sandbox.setFaults({ shares: { stall: 1 }, exact: [] });
  const arrived = () => current().sandbox.requests.length;
  const before = arrived();
  const stop = new AbortController();
  const given = expect(commissions.get(id, { signal: stop.signal })).rejects.toThrow('given up');
  await expect.poll(arrived).toBe(before + 1);
  stop.abort(new Error('given up'));
  await given;
  current().sandbox.setFaults(NO_FAULTS);
  await expect(commissions.get(id, { signal: AbortSignal.timeout(200) })).rejects.toThrow('timeout');
  expect(arrived()).toBe(before + 1);
});

describe('a permit counts', () => {
  test('while its request is in flight, and for one window after its answer', async () => {
    const take = createBudget({ requests: 1, windowSeconds: 0.05 });
    const permit = await take();
    await expect(take(AbortSignal.timeout(100))).rejects.toThrow('timeout');
    await answer(permit);
    await answer(await take());
    const slow = createBudget({ requests: 1, windowSeconds: 60 });
    await answer(await slow());
    expect(await countFree(slow)).toBe(0);
  });

  test('where its request is given up, for one window after the time that it could have taken', async () => {
    const take = createBudget({ requests: 1, windowSeconds: 0.01 });
    await (await take(undefined, 30)).returnAnswered(null);
    await (await take(undefined, MINUTE_MS)).returnAnswered(null);
    await expect(take(AbortSignal.timeout(100))).rejects.toThrow('timeout');
  });

  test('not where it was returned unused', async () => {
    const take = createBudget({ requests: 1, windowSeconds: 60 });
    await (await take()).returnUnused();
    expect(await countFree(take)).toBe(1);
  });
});

describe('an answer teaches', () => {
  test.each([TEN_A_MINUTE, null])('a pause after 429, also where the limit is %j', async (limit) => {
    const take = createBudget(limit);
    await answer(await take(), { throttled: true, resetMs: MINUTE_MS });
    expect(await countFree(take)).toBe(0);
  });

  test('that after a pause one request asks first', async () => {
    const take = createBudget(TEN_A_MINUTE);
    await answer(await take(), { throttled: true, resetMs: 30 });
    const first = await take();
    expect(await countFree(take)).toBe(0);
    await answer(first);
    expect(await countFree(take)).toBe(8);
  });

  test('a limit that is lower, until a window later', async () => {
    const take = createBudget(TEN_A_MINUTE);
    await answer(await take(), { limit: 4, remaining: 3, resetMs: MINUTE_MS });
    expect(await countFree(take)).toBe(3);
  });

  test('the requests of others on the account, which are left to them', async () => {
    const take = createBudget(TEN_A_MINUTE);
    await answer(await take(), { limit: 10, remaining: 2, resetMs: MINUTE_MS });
    expect(await countFree(take)).toBe(2);
    const exhausted = createBudget(TEN_A_MINUTE);
    await answer(await exhausted(), { limit: 10, remaining: 0, resetMs: MINUTE_MS });
    expect(await countFree(exhausted)).toBe(0);
  });

  test('nothing where it leaves more than this budget would send', async () => {
    const take = createBudget(TEN_A_MINUTE);
    await answer(await take(), { limit: 1000, remaining: 900, resetMs: MINUTE_MS });
    expect(await countFree(take)).toBe(9);
  });
});

test.each([
  undefined,
  '45/30',
  {},
  { requests: 0, windowSeconds: 30 },
  { requests: 1.5, windowSeconds: Number.NaN },
])('a limit that is none (%j) is refused, since nothing would be granted or everything', (limit) => {
  expect(() => createBudget(limit as never)).toThrow(/^rateLimit\.requests must be a whole number from 1 on/);
});
