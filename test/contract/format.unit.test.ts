import { afterEach, expect, test } from 'vitest';
import {
  formatCount,
  formatDay,
  formatDuration,
  formatTimestamp,
  withLocalTimes,
} from '../../src/contract/format.ts';
import { MONEY } from '../../src/contract/money.ts';
import { setDisplayZone } from '../../src/contract/time-zone.ts';

afterEach(() => setDisplayZone('UTC'));

test.each([
  [0, '0.0 s'],
  [0.4, '0.0 s'],
  [0.5, '1 ms'],
  [95, '0.1 s'],
  [9_950, '10 s'],
  [59_499, '59 s'],
  [59_500, '1 min 0 s'],
  [3_599_500, '1 h 0 min'],
  [86_400_000, '1 d 0 h'],
  [273_600_000, '3 d 4 h'],
])('a duration of %i ms reads %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('a count is grouped by thousands', () => {
  expect(formatCount(1_234_567)).toBe('1,234,567');
});

test('a timestamp reads to the second, in UTC', () => {
  expect(formatTimestamp('2026-01-02T03:04:05.678901Z')).toBe('2026-01-02 03:04:05Z');
});

test.each([
  ['Europe/Berlin', '2026-11-26T23:00:00.000Z', '2026-11-27 00:00 +01:00', '2026-11-27'],
  ['Europe/Berlin', '2026-10-25T00:30:05Z', '2026-10-25 02:30:05 +02:00', '2026-10-25'],
  ['America/St_Johns', '2026-01-01T00:00:00Z', '2025-12-31 20:30 -03:30', '2025-12-31'],
  ['Europe/London', '2026-01-01T00:00:00Z', '2026-01-01 00:00 +00:00', '2026-01-01'],
  ['Europe/Berlin', '1850-01-01T00:00:00Z', '1850-01-01 00:53:28 +00:53:28', '1850-01-01'],
])('in %s, %s reads %s', (zone, at, text, day) => {
  setDisplayZone(zone);
  expect([formatTimestamp(at), formatDay(at)]).toEqual([text, day]);
});

test('the times of a sentence and of the payment ledger read in the display zone, to the last digit', () => {
  const text =
    'mark paid at 2026-11-26 23:00:00 UTC; it is paid at 2026-11-26T23:00:00.5Z, not 2026-13-26T00:00:00Z';
  expect(withLocalTimes(text)).toBe(text);
  setDisplayZone('Europe/Berlin');
  expect(withLocalTimes(text)).toBe(
    'mark paid at 2026-11-27 00:00 +01:00; it is paid at 2026-11-27 00:00:00.5 +01:00, not 2026-13-26T00:00:00Z',
  );
});

test.each([
  [8395, 'USD', '83.95 USD'],
  [5, 'eur', '0.05 eur'],
  [-123_456_789, 'EUR', '-1,234,567.89 EUR'],
  [8395, 'JPY', '8,395 JPY'],
  [8395, 'KWD', '8.395 KWD'],
  // Of these the standard has minor units, though few people write them.
  [499_000, 'HUF', '4,990.00 HUF'],
  [499_000, 'IQD', '499.000 IQD'],
  [Number.MAX_SAFE_INTEGER, 'USD', '90,071,992,547,409.91 USD'],
  [27_021_597_764_222_973n, 'USD', '270,215,977,642,229.73 USD'],
  [-(10n ** 38n), 'JPY', `-100${',000'.repeat(12)} JPY`],
  [1e21, 'USD', `10${',000'.repeat(6)}.00 USD`],
  [8395, 'points', '8,395 points'],
  [8395, null, '8,395'],
])('an amount of %i in %s reads %s', (amount, currency, text) => {
  expect(MONEY.minor.format(amount, currency)).toBe(text);
});

test('where a program counts in cents, an amount has two digits whatever the currency is called', () => {
  expect(['JPY', 'USDT', 'points', null].map((currency) => MONEY.cent.format(8395, currency))).toEqual([
    '83.95 JPY',
    '83.95 USDT',
    '83.95 points',
    '8,395',
  ]);
});
