// After a pause one request asks whether the program answers again: which one counts, and for how long the pause is.

import { beforeEach, describe, expect, test } from 'vitest';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makeLogger } from '../../src/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll, pass, SILENT, whyWait } from './budgeting.ts';

const { pool } = await createTestDatabase();
const requests = 10;
const take = makeTakePermit(
  { db: makeDatabase(pool), log: makeLogger('fatal') },
  { rateLimit: { requests, windowSeconds: 60 }, priority: 'reads', requestTimeoutMs: 1000 },
);
const why = () => whyWait(pool, { requests });

beforeEach(() => forgetAll(pool));

describe('one request asks', () => {
  test('whatever is still under way from before the pause', async () => {
    const [throttled] = await Promise.all([take(), take()]);
    await throttled.returnAnswered({ ...SILENT, throttled: true, resetMs: 30_000 });
    await pass(pool, 31);
    expect(await why()).toBeNull();
    await take();
    expect(await why()).toBe('answer');
  });

  test('and an answer to a request from before the pause is not its own', async () => {
    const [throttled, before] = await Promise.all([take(), take()]);
    await throttled.returnAnswered({ ...SILENT, throttled: true, resetMs: 30_000 });
    await before.returnAnswered(SILENT);
    await pass(pool, 31);
    await take();
    expect(await why()).toBe('answer');
  });

  test('also where nothing remains, and after its answer several are under way at once', async () => {
    await (await take()).returnAnswered({ ...SILENT, limit: 5000, remaining: 0, resetMs: 30_000 });
    expect(await why()).toBe('pause');
    await pass(pool, 31);
    const asking = await take();
    expect(await why()).toBe('answer');
    await asking.returnAnswered(SILENT);
    await take();
    expect(await why()).toBeNull();
  });
});

describe('a pause is not shortened', () => {
  test.each([
    ['another 429', { throttled: true }],
    ['an answer of which nothing remains', { limit: requests, remaining: 0 }],
  ])('by %s that names an earlier end', async (_, says) => {
    const [first, second] = await Promise.all([take(), take()]);
    await first.returnAnswered({ ...SILENT, throttled: true, resetMs: 60_000 });
    await second.returnAnswered({ ...SILENT, ...says, resetMs: 1000 });
    await pass(pool, 30);
    expect(await why()).toBe('pause');
    await pass(pool, 31);
    expect(await why()).toBeNull();
  });
});

test('only a 429 is noted as one: a limit of 0 pauses without it', async () => {
  const readThrottled = async () => {
    const { rows } = await pool.query<{ is_noted: boolean }>(
      'select last_throttled_at is not null as is_noted from request_budget',
    );
    return rows[0]?.is_noted;
  };
  const [zero, throttled] = await Promise.all([take(), take()]);
  await zero.returnAnswered({ ...SILENT, limit: 0, resetMs: 30_000 });
  expect(await why()).toBe('pause');
  expect(await readThrottled()).toBe(false);
  await throttled.returnAnswered({ ...SILENT, throttled: true });
  expect(await readThrottled()).toBe(true);
});
