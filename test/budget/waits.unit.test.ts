// What is logged of a wait for the budget: a pause at once, a window only where it lasts, and neither again and again.

import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type PermitWait, sayLongWaits } from '../../src/budget/waits.ts';

let said: (wait: PermitWait) => void;
let lines: { why: string; until?: string; waited_s: number }[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'], now: new Date('2026-03-01T12:00:00Z') });
  lines = [];
  said = sayLongWaits(pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) }));
});
afterEach(() => {
  vi.useRealTimers();
});

test('a pause is said at once, with its end; one of a second at most is not', () => {
  said({ reason: 'pause', waitMs: 1000 });
  expect(lines).toEqual([]);
  said({ reason: 'pause', waitMs: 30_000 });
  expect(lines).toMatchObject([{ until: '2026-03-01T12:00:30.000Z', waited_s: 0 }]);
});

test.each(['window', 'payments', 'answer'] as const)('a wait for %s is said after ten seconds', (reason) => {
  const wait = { reason, waitMs: 1000 };
  said(wait);
  vi.advanceTimersByTime(10_000);
  said(wait);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1000);
  said(wait);
  expect(lines).toMatchObject([{ waited_s: 11 }]);
  expect(lines[0]).not.toHaveProperty('until');
});

test('what goes on is said again a minute later, and not before', () => {
  const wait = { reason: 'pause', waitMs: 300_000 } as const;
  said(wait);
  vi.advanceTimersByTime(59_000);
  said(wait);
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1000);
  said(wait);
  expect(lines.map(({ waited_s }) => waited_s)).toEqual([0, 60]);
});
