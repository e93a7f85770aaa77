// Timestamps are compared without losing a digit.

import { expect, test } from 'vitest';
import { matchTimestamp } from '../../src/payments/timestamps.ts';

test.each([
  ['2026-10-01T12:00:00Z', '2026-10-01T12:00:00Z', 'same'],
  ['2026-10-01T12:00:00Z', '2026-10-01T14:00:00.000+02:00', 'same'],
  ['2026-10-01T12:00:00.123456Z', '2026-10-01T12:00:00.123456Z', 'same'],
  ['2026-10-01T12:00:00.123456Z', '2026-10-01T12:00:00.123Z', 'cut'],
  ['2026-10-01T12:00:00.999Z', '2026-10-01T12:00:00Z', 'cut'],
  ['1969-12-31T23:59:58.5Z', '1969-12-31T23:59:58Z', 'cut'],
  ['2026-10-01T12:00:00.999Z', '2026-10-01T12:00:01Z', 'different'],
  ['2026-10-01T12:00:00Z', '2026-10-01T12:00:00.001Z', 'different'],
  ['2026-10-01T12:00:00.123456Z', '2026-10-01T12:00:00.123457Z', 'different'],
  ['2026-10-01T12:00:00Z', null, 'different'],
] as const)('asked %s, held %s: %s', (asked, held, match) => {
  expect(matchTimestamp(asked, held)).toBe(match);
});
