// The budget in memory: how long a permit counts, and what answers teach.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { AnsweredLimits, Permit, TakePermit } from '../../src/api/permit.ts';
import { createBudget } from '../../src/client/client.ts';

const MINUTE_MS = 60_000;
const TEN_A_MINUTE = { requests: 10, windowSeconds: 60 };

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

test('what was never answered grants as many at once as the limit has', async () => {
  expect(await countFree(createBudget(TEN_A_MINUTE))).toBe(10);
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

  test('the longest of several pauses', async () => {
    const take = createBudget(TEN_A_MINUTE);
    const [first, second] = [await take(), await take()];
    await answer(first, { throttled: true, resetMs: MINUTE_MS });
    await answer(second, { throttled: true, resetMs: 10 });
    await sleep(20);
    expect(await countFree(take)).toBe(0);
  });

  test('a pause of one window after a 429 that names no end, and of half a minute where there is no window', async () => {
    const take = createBudget({ requests: 1, windowSeconds: 0.05 });
    await answer(await take(), { throttled: true });
    await take(AbortSignal.timeout(10_000));
    const unlimited = createBudget(null);
    await answer(await unlimited(), { throttled: true });
    expect(await countFree(unlimited)).toBe(0);
  });

  test.each([
    [null, { limit: 1, remaining: 0, resetMs: MINUTE_MS }],
    [TEN_A_MINUTE, { limit: 4, remaining: 0, resetMs: MINUTE_MS }],
  ])('nothing else: with the limit %j, %j', async (limit, says) => {
    const take = createBudget(limit);
    await answer(await take(), says);
    for (let more = 0; more < 5; more += 1) await take(AbortSignal.timeout(1000));
  });

  test('a pause by a limit of 0', async () => {
    const take = createBudget(TEN_A_MINUTE);
    await answer(await take(), { limit: 0, resetMs: MINUTE_MS });
    expect(await countFree(take)).toBe(0);
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
