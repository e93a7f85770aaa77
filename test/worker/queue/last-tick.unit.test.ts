// The last tick of a schedule: the one that the alarm clock rang for, whatever is done to the clocks of its time zone.

import { getNextMillis } from 'bullmq';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeTick, lastTick, tickAfter } from '../../../src/worker/queue/schedules.ts';
import { sized } from '../../support/sizes.ts';

const last = (pattern: string, timezone: string, now: string, madeMs = 0) => {
  const tick = lastTick({ name: 'x', pattern, timezone }, { nowMs: Date.parse(now), madeMs });
  return tick === null ? null : new Date(tick).toISOString();
};

test.each([
  ['Europe/Berlin', '2026-01-05T01:00:00Z', '2026-01-05 02:00 Europe/Berlin (01:00 UTC)'],
  ['Europe/Berlin', '2026-07-05T00:00:02Z', '2026-07-05 02:00:02 Europe/Berlin (00:00:02 UTC)'],
  ['America/New_York', '2026-01-06T02:30:00Z', '2026-01-05 21:30 America/New_York (2026-01-06 02:30 UTC)'],
  ['UTC', '2026-01-05T02:00:00Z', '2026-01-05 02:00 UTC'],
])('a tick in %s is said with its zone, and in UTC', (timezone, at, words) => {
  expect(describeTick({ timezone }, Date.parse(at))).toBe(words);
});

test('a tick before the mirror was made is none', () => {
  const tickMs = Date.parse('2026-01-05T02:00:00Z');
  expect(last('0 2 * * *', 'UTC', '2026-01-05T03:00:00Z', tickMs)).toBe(null);
  expect(last('0 2 * * *', 'UTC', '2026-01-05T03:00:00Z', tickMs - 1)).not.toBe(null);
});

const patterns = ['30 2 * * *', '*/15 * * * *', '0 1-3 * * 0', '0 0 29 2 *', '* * * * * *'];
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia'];
/** Clocks change in some of the zones. */
const CHANGES = [
  '2026-03-29T01:30:00Z',
  '2026-10-25T01:30:00Z',
  '2026-03-08T07:30:00Z',
  '2026-11-01T06:30:00Z',
  '2026-10-03T15:45:00Z',
].map((time) => Date.parse(time));
/** No whole part of an hour: each hour is met at other minutes. */
const STEP_MS = sized(83, 13) * 60_000;

test.each([
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Europe/London', '2026-10-25T01:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T15:00:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['America/New_York', '2026-03-08T07:00:00Z'],
])(
  'in %s, it is the one that the alarm clock rang for, whatever the change of %s repeats or leaves out',
  (timezone, change) => {
    const changeMs = Date.parse(change);
    const HOUR_MS = 3_600_000;
    for (const pattern of ['0,30 1 * * *', '*/20 2 * * *', '*/15 0-5 * * *', '0,30 2 * * 0']) {
      const rung: number[] = [];
      // From before, as a worker that runs.
      for (let ms = changeMs - 2 * 24 * HOUR_MS; ms < changeMs + 12 * HOUR_MS; ) {
        const next = tickAfter({ pattern, timezone }, ms);
        if (next === Number.POSITIVE_INFINITY) break;
        rung.push(next);
        ms = next;
      }
      const untilMs = Math.min(changeMs + 12 * HOUR_MS, rung.at(-1) ?? 0);
      for (let nowMs = changeMs - 3 * HOUR_MS; nowMs < untilMs; nowMs += STEP_MS) {
        const last = rung.findLast((ms) => ms <= nowMs);
        if (last === undefined) continue;
        const tick = lastTick({ name: 'x', pattern, timezone }, { nowMs, madeMs: 0 });
        expect([pattern, nowMs, tick]).toEqual([pattern, nowMs, last]);
      }
    }
  },
);

const FROM_MS = Date.UTC(2024, 0, 1);

test('it is the same until the alarm clock rings for the next one, at any moment', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...patterns),
      fc.constantFrom(...zones),
      fc.integer({ min: FROM_MS, max: Date.UTC(2028, 0, 1) }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (pattern, timezone, nowMs, share) => {
        const tick = lastTick({ name: 'x', pattern, timezone }, { nowMs, madeMs: 0 });
        if (tick === null) return;
        expect(tick).toBeLessThanOrEqual(nowMs);
        const next = getNextMillis(tick, { pattern, tz: timezone }) ?? Number.POSITIVE_INFINITY;
        expect(next).toBeGreaterThan(nowMs);
        const between = { nowMs: tick + Math.floor((nowMs - tick) * share), madeMs: 0 };
        expect(lastTick({ name: 'x', pattern, timezone }, between)).toBe(tick);
      },
    ),
    {
      examples: zones.flatMap((zone) =>
        CHANGES.map((ms): [string, string, number, number] => ['30 2 * * *', zone, ms, 0]),
      ),
    },
  );
});
