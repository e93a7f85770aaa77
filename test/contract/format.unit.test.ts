import { expect, test } from 'vitest';
import { formatCount, formatDuration, formatTimestamp } from '../../src/contract/format.ts';
import { formatMoney } from '../../src/contract/money.ts';

test.each([
  [0, '0.0 s'],
  [0.4, '0.0 s'],
  [0.5, '1 ms'],
  [94, '94 ms'],
  [95, '0.1 s'],
  [449, '0.4 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_499, '59 s'],
  [59_500, '1 min 0 s'],
  [200_000, '3 min 20 s'],
  [3_599_500, '1 h 0 min'],
  [18_120_000, '5 h 2 min'],
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
  [8395, 'USD', '83.95 USD'],
  [5, 'eur', '0.05 eur'],
  [0, 'USD', '0.00 USD'],
  [-123_456_789, 'EUR', '-1,234,567.89 EUR'],
  [8395, 'JPY', '8,395 JPY'],
  [8395, 'KWD', '8.395 KWD'],
  // Of these the standard has minor units, though few people write them.
  [499_000, 'HUF', '4,990.00 HUF'],
  [499_000, 'cop', '4,990.00 cop'],
  [499_000, 'IDR', '4,990.00 IDR'],
  [499_000, 'IQD', '499.000 IQD'],
  [Number.MAX_SAFE_INTEGER, 'USD', '90,071,992,547,409.91 USD'],
  [27_021_597_764_222_973n, 'USD', '270,215,977,642,229.73 USD'],
  [-(10n ** 38n), 'JPY', `-100${',000'.repeat(12)} JPY`],
  [1e21, 'USD', `10${',000'.repeat(6)}.00 USD`],
  [8395, 'points', '8,395 points'],
  [8395, null, '8,395'],
  [27_021_597_764_222_973n, null, '27,021,597,764,222,973'],
])('an amount of %i in %s reads %s', (amount, currency, text) => {
  expect(formatMoney(amount, currency)).toBe(text);
});

test('where a program counts in cents, an amount has two digits whatever the currency is called', () => {
  expect(['JPY', 'USDT', 'points', null].map((currency) => formatMoney(8395, currency, 'cent'))).toEqual([
    '83.95 JPY',
    '83.95 USDT',
    '83.95 points',
    '8,395',
  ]);
});
