// What the headers of an answer teach: for how long, and only where it is less than what we would send anyway.

import { beforeEach, describe, expect, test } from 'vitest';
import type { AnsweredLimits, TakePermit } from '../../src/api/permit.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { Priority } from '../../src/budget/waits.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makeLogger } from '../../src/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { whyWait as askWhy, forgetAll, pass as letPass, SILENT } from './budgeting.ts';

const database = await createTestDatabase();
const db = makeDatabase(database.pool);

const REQUESTS = 10;
const WINDOW_SECONDS = 60;
const HOUR_MS = 3_600_000;

beforeEach(() => forgetAll(database.pool));

function takeWith(requests: number, windowSeconds: number): TakePermit {
  return makeTakePermit(
    { db, log: makeLogger('fatal') },
    { rateLimit: { requests, windowSeconds }, priority: 'reads', requestTimeoutMs: 1000 },
  );
}

/** Sends one request, whose answer says this. */
async function send(take: TakePermit, says: Partial<AnsweredLimits> = {}): Promise<void> {
  const permit = await take();
  await permit.returnAnswered({ ...SILENT, ...says });
}

const whyWait = (requests = REQUESTS, priority: Priority = 'reads') =>
  askWhy(database.pool, { requests, priority });
const pass = (seconds: number) => letPass(database.pool, seconds);

describe('a limit that is said once', () => {
  test('of 0 is a pause until the reset', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    await send(take, { limit: 0, remaining: 0, resetMs: 20_000 });
    expect(await whyWait()).toBe('pause');
    await pass(19);
    expect(await whyWait()).toBe('pause');
    await pass(2);
    expect(await whyWait()).toBeNull();
  });

  test('of 0 that names no reset is a pause of one window', async () => {
    await send(takeWith(REQUESTS, WINDOW_SECONDS), { limit: 0 });
    await pass(WINDOW_SECONDS - 1);
    expect(await whyWait()).toBe('pause');
    await pass(2);
    expect(await whyWait()).toBeNull();
  });

  test('of 1 holds for a window, and is forgotten', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    await send(take, { limit: 1, remaining: 0, resetMs: 1000 });
    expect(await whyWait()).toBe('window');
    await pass(WINDOW_SECONDS + 1);
    for (let sent = 0; sent < REQUESTS; sent += 1) await send(take);
    expect(await whyWait()).toBe('window');
  });

  test('is followed for as long as the answers say it again', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    for (let sent = 0; sent < 4; sent += 1) {
      await send(take, { limit: 4, remaining: 3 - sent, resetMs: 1000 });
      await pass(10);
    }
    expect(await whyWait()).toBe('window');
  });
});

describe('a quota that is larger or longer than ours', () => {
  test('of 5,000 an hour takes nothing from 45 in 3 seconds', async () => {
    const take = takeWith(45, 3);
    for (let sent = 1; sent <= 200; sent += 1) {
      await send(take, { limit: 5000, remaining: 5000 - sent, resetMs: HOUR_MS - sent });
      if (sent % 45 === 0) await pass(3);
    }
    expect(await whyWait(45)).toBeNull();
  });

  test('of 100 with 40 left takes nothing from 45 in 5 seconds', async () => {
    const take = takeWith(45, 5);
    for (let sent = 0; sent < 40; sent += 1) {
      await send(take, { limit: 100, remaining: 40, resetMs: 5000 });
    }
    expect(await whyWait(45)).toBeNull();
  });

  test('of which less is left than we would send is kept to', async () => {
    const take = takeWith(45, 3);
    await send(take, { limit: 5000, remaining: 3, resetMs: HOUR_MS });
    await send(take, { limit: 5000, remaining: 2, resetMs: HOUR_MS });
    await send(take, { limit: 5000, remaining: 1, resetMs: HOUR_MS });
    expect(await whyWait(45)).toBeNull();
    await send(take, { limit: 5000, remaining: 0, resetMs: 100_000 });
    expect(await whyWait(45)).toBe('pause');
    await pass(99);
    expect(await whyWait(45)).toBe('pause');
    await pass(2);
    expect(await whyWait(45)).toBeNull();
  });
});

describe('requests of somebody else', () => {
  test('are left to them until the reset', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    await send(take, { limit: REQUESTS, remaining: 1, resetMs: 20_000 });
    expect(await whyWait()).toBeNull();
    await send(take);
    expect(await whyWait()).toBe('window');
    await pass(21);
    expect(await whyWait()).toBeNull();
  });

  test('are not our own that were in flight when another was answered', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    const inFlight = await Promise.all(Array.from({ length: 8 }, () => take()));
    // Received and answered in the reverse order, each answer counting those before it.
    for (const [index, permit] of inFlight.toReversed().entries()) {
      const remaining = REQUESTS - 1 - index;
      await permit.returnAnswered({ throttled: false, limit: REQUESTS, remaining, resetMs: 60_000 });
    }
    expect(await whyWait()).toBeNull();
  });

  test('are not our own that left our window while the process that got the answer was stopped', async () => {
    const take = takeWith(REQUESTS, 3);
    const stopped = await take();
    for (let sent = 1; sent < REQUESTS; sent += 1) await send(take);
    await pass(10);
    await stopped.returnAnswered({ throttled: false, limit: REQUESTS, remaining: 0, resetMs: 3000 });
    expect(await whyWait()).toBeNull();
  });

  test('are not told by an answer that is minutes old: its process was stopped', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    const stopped = await take();
    await pass(120);
    await stopped.returnAnswered({ throttled: false, limit: REQUESTS, remaining: 0, resetMs: 60_000 });
    expect(await whyWait()).toBeNull();
  });

  test('are not our own that left our window, where theirs is longer', async () => {
    const take = takeWith(REQUESTS, 3);
    for (let sent = 1; sent <= 40; sent += 1) {
      await send(take, { limit: 100, remaining: 100 - sent, resetMs: 60_000 });
      if (sent % REQUESTS === 0) await pass(4);
    }
    expect(await whyWait()).toBeNull();
  });
});

describe('after a 429', () => {
  test('one request asks, and the others follow its answer', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    await send(take, { throttled: true, resetMs: 30_000 });
    expect(await whyWait()).toBe('pause');
    await pass(31);
    const asking = await take();
    expect(await whyWait()).toBe('answer');
    await asking.returnAnswered({ throttled: false, limit: null, remaining: null, resetMs: null });
    expect(await whyWait()).toBeNull();
  });

  test('a request that asked and was not answered lets another one ask', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    await send(take, { throttled: true, resetMs: 30_000 });
    await pass(31);
    const lost = await take();
    await lost.returnAnswered(null);
    const asking = await take();
    expect(await whyWait()).toBe('answer');
    await asking.returnUnused();
    expect(await whyWait()).toBeNull();
  });

  test('a request whose process was killed lets another one ask once its permit has expired', async () => {
    const take = takeWith(REQUESTS, WINDOW_SECONDS);
    await send(take, { throttled: true, resetMs: 30_000 });
    await pass(31);
    await take();
    // Used within 10 s, answered within 1 s, and counted for a window.
    const heldSeconds = 10 + 1 + WINDOW_SECONDS;
    await pass(heldSeconds - 1);
    expect(await whyWait()).toBe('answer');
    await pass(2);
    expect(await whyWait()).toBeNull();
  });

  test('payments wait like everybody else', async () => {
    await send(takeWith(REQUESTS, WINDOW_SECONDS), { throttled: true, resetMs: 30_000 });
    expect(await whyWait(REQUESTS, 'payments')).toBe('pause');
  });
});
