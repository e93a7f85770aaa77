// The last tick of a schedule: the one that the alarm clock rang for, whatever is done to the clocks of its time zone.

import { getNextMillis } from 'bullmq';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastTick } from '../../src/queue/schedules.ts';

const last = (pattern: string, timezone: string, now: string, madeMs = 0) => {
  const tick = lastTick({ name: 'x', pattern, timezone }, { nowMs: Date.parse(now), madeMs });
  return tick === null ? null : new Date(tick).toISOString();
};

test.each([
  ['2026-01-05T01:59:59.999Z', '2026-01-04T02:00:00.000Z'],
  ['2026-01-05T02:00:00.000Z', '2026-01-05T02:00:00.000Z'],
  ['2026-01-05T02:00:00.001Z', '2026-01-05T02:00:00.000Z'],
  ['2026-01-05T23:00:00.000Z', '2026-01-05T02:00:00.000Z'],
])('at %s, the last tick of every night at two was at %s', (now, tick) => {
  expect(last('0 2 * * *', 'UTC', now)).toBe(tick);
});

test('a night with two hours from two to three has one tick at two', () => {
  expect(last('0 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z')).toBe('2026-10-25T00:00:00.000Z');
  expect(last('0 2 * * *', 'Europe/Berlin', '2026-10-25T12:00:00Z')).toBe('2026-10-25T00:00:00.000Z');
});

test('a night without half past two has one tick all the same', () => {
  const ticks = new Set(
    Array.from({ length: 24 }, (_, hour) =>
      last('30 2 * * *', 'Europe/Berlin', new Date(Date.UTC(2026, 2, 29, hour)).toISOString()),
    ),
  );
  expect(ticks.size).toBe(2);
});

test('a tick before the mirror was made is none', () => {
  const tickMs = Date.parse('2026-01-05T02:00:00Z');
  expect(last('0 2 * * *', 'UTC', '2026-01-05T03:00:00Z', tickMs)).toBe(null);
  expect(last('0 2 * * *', 'UTC', '2026-01-05T03:00:00Z', tickMs - 1)).not.toBe(null);
});

const patterns = [
  '0 2 * * *',
  '30 2 * * *',
  '*/15 * * * *',
  '0 1-3 * * 0',
  '0 0 1 1 *',
  '0 0 29 2 *',
  '* * * * * *',
];
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia'];
/** Clocks change in some of the zones. */
const CHANGES = [
  '2026-03-29T01:30:00Z',
  '2026-10-25T01:30:00Z',
  '2026-03-08T07:30:00Z',
  '2026-11-01T06:30:00Z',
  '2026-10-03T15:45:00Z',
].map((time) => Date.parse(time));
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
