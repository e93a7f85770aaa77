// What the headers of an answer teach: for how long, and only where it is less than what we would send anyway.

import { beforeEach, describe, expect, test } from 'vitest';
import type { AnsweredLimits, Permit } from '../../src/api/permit.ts';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll, pass, SILENT, whyWait } from './budgeting.ts';

const { db, pool } = await createTestDatabase();
const OURS = 10;
const HOUR_MS = 3_600_000;

beforeEach(() => forgetAll(pool));

type Says = Partial<AnsweredLimits>;
/**
 * A request that is answered so; seconds that pass; requests that are sent; the answer to the one that was sent last,
 * null if none came; a permit that is returned unused.
 */
type Step = Says | number | { readonly sent: number } | { readonly late: Says | null } | 'unused';

/** Takes the steps, and returns the permits whose requests are still under way. */
async function play(steps: readonly Step[], requests = OURS, windowSeconds = 60): Promise<Permit[]> {
  const take = makeTakePermit(
    { db, log: makeLogger('fatal') },
    { rateLimit: { requests, windowSeconds }, priority: 'reads', requestTimeoutMs: 1000 },
  );
  const underWay: Permit[] = [];
  for (const step of steps) {
    if (typeof step === 'number') await pass(pool, step);
    else if (step === 'unused') await (await take()).returnUnused();
    else if ('sent' in step) for (let sent = 0; sent < step.sent; sent += 1) underWay.push(await take());
    else if ('late' in step) {
      await underWay.pop()?.returnAnswered(step.late === null ? null : { ...SILENT, ...step.late });
    } else await (await take()).returnAnswered({ ...SILENT, ...step });
  }
  return underWay;
}

/** Returns how many requests would be granted now, beside those that are still under way, which are given back. */
async function countGranted(steps: readonly Step[]): Promise<number> {
  for (const permit of await play(steps)) await permit.returnUnused();
  let granted = 0;
  for (; (await whyWait(pool, { requests: OURS })) === null; granted += 1) await play([{ sent: 1 }]);
  return granted;
}

const times = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, i) => of(i));
const minute = (limit: number, remaining: number) => ({ limit, remaining, resetMs: 60_000 });
const THROTTLED = { throttled: true, resetMs: 30_000 };

describe('a limit that is said once', () => {
  test.each<[string, readonly Step[], number]>([
    ['1 holds for a window', [{ limit: 1, remaining: 0, resetMs: 1000 }], 0],
    ['1 is forgotten after it', [{ limit: 1, remaining: 0, resetMs: 1000 }, 61], OURS],
    ['a reset that is later than a window', [{ limit: 4, remaining: 3, resetMs: 120_000 }, 61], 4],
    ['until that reset', [{ limit: 4, remaining: 3, resetMs: 120_000 }, 121], OURS],
    ['until an answer names the usual one', [minute(2, 1), minute(OURS, 8)], 8],
    ['said again', times(4, (sent) => [{ limit: 4, remaining: 3 - sent, resetMs: 1000 }, 10]).flat(), 0],
  ])('%s', async (_, steps, granted) => {
    expect(await countGranted(steps)).toBe(granted);
  });

  test.each<[string, readonly Step[], string | null]>([
    ['0 is a pause', [{ limit: 0, remaining: 0, resetMs: 20_000 }, 19], 'pause'],
    ['0 ends at its reset', [{ limit: 0, remaining: 0, resetMs: 20_000 }, 21], null],
    ['0 without a reset is a pause of a window', [{ limit: 0 }, 59], 'pause'],
    ['and no longer', [{ limit: 0 }, 61], null],
  ])('%s', async (_, steps, why) => {
    await play(steps);
    expect(await whyWait(pool, { requests: OURS })).toBe(why);
  });
});

describe('a quota that is larger or longer than ours', () => {
  const left = (remaining: number, resetMs = HOUR_MS) => ({ limit: 5000, remaining, resetMs });
  const few = [left(3), left(2), left(1)];
  const gone = [...few, left(0, 100_000)];
  test.each<[string, readonly Step[], number, string | null]>([
    ['5,000 an hour', times(200, (sent) => [left(4999 - sent), sent % 45 === 44 ? 3 : 0]).flat(), 3, null],
    ['100 with 40 left', times(40, () => ({ limit: 100, remaining: 40, resetMs: 5000 })), 5, null],
    ['of which 1 is left', few, 3, null],
    ['of which none is left', gone, 3, 'pause'],
    ['until its reset', [...gone, 99], 3, 'pause'],
    ['and no longer', [...gone, 101], 3, null],
  ])('%s', async (_, steps, windowSeconds, why) => {
    await play(steps, 45, windowSeconds);
    expect(await whyWait(pool, { requests: 45 })).toBe(why);
  });
});

describe('requests of others', () => {
  const four = minute(OURS, 4);
  test.each<[string, readonly Step[], number]>([
    ['are left to them', [minute(OURS, 1), {}], 0],
    ['until the reset', [{ limit: OURS, remaining: 1, resetMs: 20_000 }, {}, 21], OURS - 2],
    ['are unknown without a reset', [{ limit: OURS, remaining: 4 }], 9],
    ['are fewer once an answer leaves more', [four, minute(OURS, 6)], OURS - 2 - 2],
    ['are none once an answer leaves all', [four, minute(OURS, 6), minute(OURS, 9)], OURS - 3],
    ['are more once an answer leaves less', [minute(OURS, 8), four], OURS - 2 - 4],
    // It counts its own and the one before it, and those five of others.
    ['stay as many when an answer comes late', [four, { sent: 1 }, {}, {}, { late: minute(OURS, 3) }], 1],
    ['stay as many beside ours under way', [four, { sent: 2 }, minute(OURS, 3)], OURS - 2 - 5],
    // One for sure: the other three that are missing may be those under way.
    ['are judged anew after their reset', [four, 61, { sent: 3 }, minute(OURS, 5)], OURS - 1 - 1],
    ['are not told by a 429', [four, { ...minute(OURS, 3), throttled: true, resetMs: 1000 }, 2, {}], 2],
  ])('%s', async (_, steps, granted) => {
    expect(await countGranted(steps)).toBe(granted);
  });

  const filled = [{ sent: 1 }, ...times(OURS - 1, () => ({})), 10];
  const stopped = { late: { limit: OURS, remaining: 0, resetMs: 3000 } };
  test.each<[string, readonly Step[], number]>([
    [
      'were in flight when another was answered',
      [{ sent: 8 }, ...times(8, (index) => ({ late: minute(OURS, OURS - 1 - index) }))],
      60,
    ],
    ['left our window while its process was stopped', [...filled, stopped], 3],
    ['were cleared away meanwhile', [...filled, 'unused', stopped], 3],
    ['are minutes old: the process was stopped', [{ sent: 1 }, 120, { late: minute(OURS, 0) }], 60],
    [
      'left our window, where theirs is longer',
      times(40, (sent) => [minute(100, 99 - sent), sent % OURS === OURS - 1 ? 4 : 0]).flat(),
      3,
    ],
  ])('are not our own that %s', async (_, steps, windowSeconds) => {
    await play(steps, OURS, windowSeconds);
    expect(await whyWait(pool, { requests: OURS })).toBeNull();
  });
});

describe('after a 429', () => {
  const asked: readonly Step[] = [THROTTLED, 31, { sent: 1 }];
  const first: readonly Step[] = [{ sent: 2 }, { late: { throttled: true, resetMs: 60_000 } }];
  const empty: readonly Step[] = [{ limit: 5000, remaining: 0, resetMs: 30_000 }];
  test.each<[string, readonly Step[], string | null]>([
    ['all wait', [THROTTLED], 'pause'],
    ['one request asks', asked, 'answer'],
    ['the others follow its answer', [...asked, { late: {} }], null],
    ['one that got no answer lets another ask', [...asked, { late: null }, { sent: 1 }], 'answer'],
    // Used within 10 s, answered within 1 s, and counted for a window.
    ['one whose process was killed lets none ask before it expires', [...asked, 10 + 1 + 60 - 1], 'answer'],
    ['and then lets another ask', [...asked, 10 + 1 + 60 + 1], null],
    ['one from before the pause does not ask', [{ sent: 2 }, { late: THROTTLED }, 31], null],
    ['nor does it count as the one', [{ sent: 2 }, { late: THROTTLED }, 31, { sent: 1 }], 'answer'],
    ['nor its answer', [{ sent: 2 }, { late: THROTTLED }, { late: {} }, 31, { sent: 1 }], 'answer'],
    ['one asks also if nothing remained', [...empty, 31, { sent: 1 }], 'answer'],
    ['and after it several do', [...empty, 31, { sent: 1 }, { late: {} }, { sent: 1 }], null],
    [
      'another 429 does not shorten it',
      [...first, { late: { throttled: true, resetMs: 1000 } }, 30],
      'pause',
    ],
    [
      'nor does an empty budget',
      [...first, { late: { limit: OURS, remaining: 0, resetMs: 9 } }, 30],
      'pause',
    ],
    ['it ends at its reset', [...first, { late: { throttled: true, resetMs: 1000 } }, 61], null],
  ])('%s', async (_, steps, why) => {
    await play(steps);
    expect(await whyWait(pool, { requests: OURS })).toBe(why);
  });

  test('payments wait like reads', async () => {
    await play([THROTTLED]);
    expect(await whyWait(pool, { requests: OURS, priority: 'payments' })).toBe('pause');
  });
});

test('the usual headers change nothing, and only a 429 is noted as one', async () => {
  const read = async () => (await pool.query('select * from request_budget')).rows[0];
  await play([minute(OURS, 9)]);
  expect(await read()).toMatchObject({ limit_until: null, foreign_until: null, last_throttled_at: null });
  await play([{ sent: 1 }, { limit: 0, resetMs: 30_000 }]);
  expect(await read()).toMatchObject({ paused_until: expect.anything(), last_throttled_at: null });
  await pass(pool, 31);
  await play([THROTTLED]);
  expect(await read()).toMatchObject({ last_throttled_at: expect.anything() });
});
