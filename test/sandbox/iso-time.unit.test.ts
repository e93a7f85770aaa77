import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readIsoTime } from '../../src/sandbox/iso-time.ts';

describe('An ISO 8601 time', () => {
  it('is read back from what Date writes, to the millisecond', () => {
    const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        expect(readIsoTime(date.toISOString())).toEqual(date);
      }),
      {
        // Before 1970, a two-digit year, a leap day, the last millisecond of all.
        examples: [
          [new Date(-1)],
          [new Date('0099-12-31T23:59:59.999Z')],
          [new Date('2000-02-29T00:00:00.001Z')],
          [new Date('9999-12-31T23:59:59.999Z')],
        ],
      },
    );
  });

  it.each([
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.6789z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05,5+01', '2026-01-02T02:04:05.500Z'],
    ['2026-01-02T03:04:05-05:30', '2026-01-02T08:34:05.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, timestamp) => {
    expect(readIsoTime(text)?.toISOString()).toBe(timestamp);
  });

  it.each([
    '',
    ' ',
    'now',
    '2026',
    '2026-1-2',
    '2026-13-01',
    '2026-00-10',
    '2025-02-29',
    '2026-04-31',
    '0000-01-01',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+01:60',
    '2026-01-02T03:04:05 UTC',
    '1767225600',
    '01/02/2026',
  ])('%o is none', (text) => {
    expect(readIsoTime(text)).toBeUndefined();
  });
});
