// A failure that comes many times a second is logged once a minute, and every other one at once.

import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeQuietWarning } from '../../src/base/quiet-warning.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('the same reason is logged once a minute, and another one at once', () => {
  const lines: { reason: string; event: string }[] = [];
  const log = pino({ base: null, messageKey: 'event' }, { write: (line) => lines.push(JSON.parse(line)) });
  const warn = makeQuietWarning({ log }, 'queue.away');
  const logged = () => lines.splice(0).map(({ reason }) => reason);

  warn(new Error('refused'));
  warn(new Error('refused'));
  warn(new Error('reset'));
  expect(logged()).toEqual(['refused', 'reset']);
  vi.advanceTimersByTime(59_999);
  warn(new Error('refused'));
  expect(logged()).toEqual([]);
  vi.advanceTimersByTime(1);
  warn(new Error('refused'));
  warn(new Error('refused'));
  expect(logged()).toEqual(['refused']);
  // What was logged since still counts, although others were forgotten meanwhile.
  vi.advanceTimersByTime(30_000);
  warn(new Error('reset'));
  warn(new Error('refused'));
  expect(logged()).toEqual(['reset']);
});
