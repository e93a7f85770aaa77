// What an answer changes of what the answers before it taught: of a lower limit, and of requests of somebody else.

import { beforeEach, describe, expect, test } from 'vitest';
import type { AnsweredLimits } from '../../src/api/permit.ts';
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

beforeEach(() => forgetAll(pool));

async function send(says: Partial<AnsweredLimits> = {}): Promise<void> {
  await (await take()).returnAnswered({ ...SILENT, ...says });
}

/** Returns how many requests would be granted now. Grants none of them: each is given back. */
async function countGranted(): Promise<number> {
  const granted = [];
  while ((await whyWait(pool, { requests })) === null) granted.push(await take());
  for (const permit of granted) await permit.returnUnused();
  return granted.length;
}

describe('a lower limit', () => {
  test('is over with the first answer that names the configured one', async () => {
    await send({ limit: 2, remaining: 1, resetMs: 60_000 });
    expect(await countGranted()).toBe(1);
    await send({ limit: requests, remaining: 8, resetMs: 60_000 });
    expect(await countGranted()).toBe(8);
  });

  test('holds until a reset that is later than a window', async () => {
    await send({ limit: 4, remaining: 3, resetMs: 120_000 });
    await pass(pool, 61);
    expect(await countGranted()).toBe(4);
    await pass(pool, 60);
    expect(await countGranted()).toBe(requests);
  });

  test('is none where it is the configured one', async () => {
    await send({ limit: requests, remaining: 9, resetMs: 60_000 });
    const { rows } = await pool.query('select limit_requests, limit_until from request_budget');
    expect(rows).toEqual([{ limit_requests: null, limit_until: null }]);
  });
});

describe('requests of somebody else', () => {
  test('are unknown where no reset says until when they count', async () => {
    await send({ limit: requests, remaining: 4 });
    expect(await countGranted()).toBe(9);
  });

  test('are none, and so have no end, where an answer leaves all that we would send', async () => {
    await send({ limit: requests, remaining: 9, resetMs: 60_000 });
    const { rows } = await pool.query('select foreign_requests, foreign_until from request_budget');
    expect(rows).toEqual([{ foreign_requests: 0, foreign_until: null }]);
  });

  test('stay as many when an answer comes late, after those to requests that were sent later', async () => {
    await send({ limit: requests, remaining: 4, resetMs: 60_000 });
    const late = await take();
    await send();
    await send();
    // It counts its own and the one before it, and those five of somebody else.
    await late.returnAnswered({ ...SILENT, limit: requests, remaining: 3, resetMs: 60_000 });
    expect(await countGranted()).toBe(requests - 4 - 5);
  });

  test('stay as many when an answer does not count what is still under way', async () => {
    await send({ limit: requests, remaining: 4, resetMs: 60_000 });
    const underWay = await Promise.all([take(), take()]);
    await send({ limit: requests, remaining: 3, resetMs: 60_000 });
    for (const permit of underWay) await permit.returnUnused();
    expect(await countGranted()).toBe(requests - 2 - 5);
  });

  test('are fewer once an answer leaves more than they would', async () => {
    await send({ limit: requests, remaining: 4, resetMs: 60_000 });
    await send({ limit: requests, remaining: 6, resetMs: 60_000 });
    expect(await countGranted()).toBe(requests - 2 - 2);
    await send({ limit: requests, remaining: 9, resetMs: 60_000 });
    expect(await countGranted()).toBe(requests - 3);
  });

  test('are more once an answer leaves less', async () => {
    await send({ limit: requests, remaining: 8, resetMs: 60_000 });
    expect(await countGranted()).toBe(requests - 1 - 1);
    await send({ limit: requests, remaining: 4, resetMs: 60_000 });
    expect(await countGranted()).toBe(requests - 2 - 4);
  });

  test('are judged anew after their reset', async () => {
    await send({ limit: requests, remaining: 4, resetMs: 60_000 });
    await pass(pool, 61);
    const underWay = await Promise.all([take(), take(), take()]);
    await send({ limit: requests, remaining: 5, resetMs: 60_000 });
    for (const permit of underWay) await permit.returnUnused();
    // One for sure: the other three that are missing may be those under way.
    expect(await countGranted()).toBe(requests - 1 - 1);
  });

  test('are not told by a 429: it is a pause, and leaves them as they were', async () => {
    await send({ limit: requests, remaining: 4, resetMs: 60_000 });
    await send({ throttled: true, limit: requests, remaining: 3, resetMs: 1000 });
    await pass(pool, 2);
    await send();
    expect(await countGranted()).toBe(requests - 3 - 5);
  });

  test('are not our own that others have cleared away since', async () => {
    const quick = makeTakePermit(
      { db: makeDatabase(pool), log: makeLogger('fatal') },
      { rateLimit: { requests, windowSeconds: 3 }, priority: 'reads', requestTimeoutMs: 1000 },
    );
    const stopped = await quick();
    for (let sent = 1; sent < requests; sent += 1) await (await quick()).returnAnswered(SILENT);
    await pass(pool, 10);
    // Whoever asks clears away what nobody has to know any more.
    await (await quick()).returnUnused();
    await stopped.returnAnswered({ ...SILENT, limit: requests, remaining: 0, resetMs: 3000 });
    expect(await whyWait(pool, { requests })).toBeNull();
  });
});
