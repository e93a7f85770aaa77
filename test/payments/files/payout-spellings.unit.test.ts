// Payout files as finance has them: the same payout is the same request, whatever program and country wrote the file,
// and what could mean two things is refused with both of them.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeWorkbook } from '../../../src/cli/output/table-writer.ts';
import { type AmountUnit, MONEY, spellDecimal } from '../../../src/contract/money.ts';
import type { BatchOptions } from '../../../src/payments/files/batch-file.ts';
import type { RawCell } from '../../../src/payments/files/raw-table.ts';
import { sized } from '../../support/sizes.ts';
import { readPayouts } from './read-payouts.ts';

const A = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const B = '1b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c12';
const BERLIN = { timeZone: 'Europe/Berlin' };
const HEADER = ['commission_id', 'action', 'paid_at', 'expected_amount', 'expected_currency'];

type Options = Partial<BatchOptions>;

const csv = (rows: readonly (readonly string[])[], delimiter = ';') =>
  [HEADER, ...rows].map((row) => row.join(delimiter)).join('\n');

const workbook = (rows: readonly (readonly RawCell[])[]) => writeWorkbook({ header: HEADER, rows });

test('any timestamp, written for any place and language, is read as the same moment', async () => {
  type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second';
  interface Shown extends Readonly<Record<Part, number>> {
    readonly offset: string;
    startOfDay(): { readonly epochMilliseconds: number };
  }
  const { Temporal } = globalThis as unknown as {
    Temporal: {
      Instant: { fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(zone: string): Shown } };
    };
  };
  const zones = ['Europe/Berlin', 'America/New_York', 'America/Sao_Paulo', 'Africa/Cairo', 'UTC'];
  const pad = (value: number) => String(value).padStart(2, '0');
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: Date.UTC(1990, 0, 1) / 1000, max: Date.UTC(2040, 0, 1) / 1000 }),
      fc.constantFrom(...zones),
      async (seconds, timeZone) => {
        const at = Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(timeZone);
        const { year, month, day } = at;
        const time = `${pad(at.hour)}:${pad(at.minute)}:${pad(at.second)}`;
        const exact = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
        const start = new Date(at.startOfDay().epochMilliseconds).toISOString().replace('.000Z', 'Z');
        const iso = `${year}-${pad(month)}-${pad(day)}`;
        const spellings: [string, Options, string][] = [
          [iso, {}, start],
          [`${day}.${month}.${year}`, {}, start],
          [`${pad(day)}/${pad(month)}/${year}`, { locale: 'en-GB' }, start],
          [`${month}/${day}/${year}`, { locale: 'en-US' }, start],
          [`${iso}T${time}${at.offset}`, {}, exact],
          [`${iso} ${time}`, {}, exact],
          [`${pad(day)}.${pad(month)}.${year} ${time}`, { locale: 'de' }, exact],
          [`${month}/${day}/${year} ${time}`, { locale: 'en-US' }, exact],
        ];
        for (const [text, options, expected] of spellings) {
          const { rows, words } = await readPayouts(csv([[A, 'pay', text, '', '']]), {
            timeZone,
            ...options,
          });
          // A time that the clocks show twice is refused, never guessed.
          if (!words[0]?.includes('is there twice in')) {
            expect([text, words, rows[0]?.request.paid_at]).toEqual([text, [], expected]);
          }
        }
      },
    ),
    {
      numRuns: sized(150, 3000),
      // Midnight is skipped in São Paulo, and shown twice in New York's autumn night an hour later.
      examples: [
        [Date.UTC(2018, 10, 4, 12) / 1000, 'America/Sao_Paulo'],
        [Date.UTC(2026, 9, 25, 0, 30) / 1000, 'Europe/Berlin'],
        [Date.UTC(2023, 3, 28, 12) / 1000, 'Africa/Cairo'],
      ],
    },
  );
});

test('any amount of any currency, written in any language, is read to its last digit', async () => {
  const places = [
    ['de', '.', ','],
    ['en', ',', '.'],
    ['fr', '\u202f', ','],
    ['de-CH', '’', '.'],
  ] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
      fc.constantFrom('EUR', 'USD', 'JPY', 'KWD', 'HUF', 'USDT', 'points'),
      fc.constantFrom(...places),
      async (amount, currency, [locale, group, mark]) => {
        const [english = ''] = MONEY.minor.format(amount, currency).split(' ');
        const local = english.replaceAll(',', '\0').replace('.', mark).replaceAll('\0', group);
        const plain = english.replaceAll(',', '');
        const cases: [string, Options][] = [
          [local, { locale, unit: 'major' }],
          [plain.replace('.', mark), { locale, unit: 'major' }],
          [String(amount), { locale, unit: 'minor' }],
          [String(amount), {}],
        ];
        for (const [text, options] of cases) {
          const { rows, words } = await readPayouts(
            csv([[A, 'pay', '2026-10-01T00:00:00Z', text, currency]]),
            options,
          );
          expect([text, words, rows[0]?.request.expected_amount]).toEqual([text, [], amount]);
        }
        const excel = await readPayouts(
          await workbook([[A, 'pay', '2026-10-01T00:00:00Z', Number(plain), currency]]),
          { unit: 'major' },
        );
        expect([excel.words, excel.rows[0]?.request.expected_amount]).toEqual([[], amount]);
      },
    ),
    {
      numRuns: sized(60, 1000),
      examples: [
        [0, 'EUR', places[0]],
        [-5, 'KWD', places[1]],
        [100_000, 'JPY', places[2]],
      ],
    },
  );
});

test('what `payable` writes is read to the last digit, whatever the program calls its currency', async () => {
  const amount = fc.integer({ min: 0, max: 10 ** 7 });
  const names = ['EUR', 'JPY', 'KWD', 'IQD', 'CLF', 'USDT', '1INCH', 'Store credit', 'usd-c'];
  const currency = fc.constantFrom(...names);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(amount, currency), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('minor', 'cent', 'major'),
      async (amounts, programUnit) => {
        const money = MONEY[programUnit];
        const rows = amounts.map(([of, name], at) => [
          A.replace(/.$/, String(at)),
          'pay',
          '2026-10-01T00:00:00Z',
          spellDecimal(of, money.digitsOf(name)),
          name,
        ]);
        for (const file of [csv(rows), await workbook(rows)]) {
          const { rows: read, words } = await readPayouts(file, { money });
          expect([
            words,
            read.map(({ request }) => [request.expected_amount, request.expected_currency]),
          ]).toEqual([[], amounts.map(([of, name]) => [of, name.toUpperCase()])]);
        }
      },
    ),
    {
      numRuns: sized(60, 1000),
      examples: [
        [[[4990, 'KWD']], 'minor'],
        [
          [
            [8395, 'USDT'],
            [8395, 'EUR'],
          ],
          'minor',
        ],
      ],
    },
  );
});

describe('what could mean two things is refused, with both of them', () => {
  const row = (paidAt: string, amount = '', currency = '') => [A, 'pay', paidAt, amount, currency];
  const AT = '2026-10-01T00:00:00Z';
  const MAJOR = { unit: 'major' } as const;
  const DE = { locale: 'de' };

  test.each<[string, Options, RegExp]>([
    ['01/10/2026', BERLIN, /"01\/10\/2026" is 2026-10-01 where the day .* and 2026-01-10 where/],
    ['01.10.26', BERLIN, /"01\.10\.26" has a year of two digits/],
    ['2026-10-01', {}, /give --timezone, .*or write 2026-10-01T00:00:00Z/],
    ['25.10.2026 02:30', BERLIN, /is there twice in Europe\/Berlin/],
    ['29.03.2026 02:30', BERLIN, /does not exist in Europe\/Berlin/],
    ['31.02.2026', BERLIN, /is not in the calendar/],
    ['soon', BERLIN, /"soon" is not a timestamp: write one such as 2026-10-01T00:00:00Z/],
    ['2026-10-01 noon', BERLIN, /is not a timestamp: write one such as 2026-10-01T00:00/],
  ])('the date %j', async (date, options, problem) => {
    expect((await readPayouts(csv([row(date)]), options)).words).toEqual([expect.stringMatching(problem)]);
  });

  test.each<[string, string, Options, RegExp]>([
    ['4.990', 'EUR', {}, /"4\.990" is 4\.990 where a point .* and 4990 where a comma/],
    ['4.990', 'KWD', MAJOR, /is 4\.990 .* and 4990 where/],
    ['4.90', 'EUR', DE, /"4\.90" is not a number alone, or has another mark before its decimals/],
    ['4.90', '', {}, /without its currency it is not known how many/],
    ['4,9', 'EUR', {}, /write 4\.90 if it is 4\.90 EUR/],
    ['4,905', 'EUR', DE, /has more digits than EUR has: 2/],
    ['4,90', 'JPY', {}, /has more digits than JPY has: 0/],
    ['4.90', 'usdt', {}, /and USDT is no code of ISO 4217, .*: correct the code, or write the whole number/],
    ['490', '€', {}, /"€" is not a currency code such as EUR/],
    ['83.95', 'EUR', { unit: 'minor' }, /is not a whole number, as --unit minor/],
    ['83', '', MAJOR, /in major units, and without its currency .*: fill in the currency/],
    ['83,95 €', 'EUR', {}, /"83,95 €" is not a number alone/],
    ['(5,00)', '', {}, /"\(5,00\)" is not a number alone/],
  ])('the amount %j, currency %j, with %j', async (amount, currency, options, problem) => {
    const { words } = await readPayouts(csv([row(AT, amount, currency)]), options);
    expect(words).toEqual([expect.stringMatching(problem)]);
  });

  test('a whole number beside decimals', async () => {
    const { words } = await readPayouts(csv([row(AT, '83.95', 'EUR'), [B, 'pay', AT, '84', 'EUR']]));
    expect(words).toEqual([
      expect.stringMatching(
        /^3: expected_amount "84" .* it is 0\.84 EUR, or 84\.00 EUR: write 84\.00, or give --unit minor or major/,
      ),
    ]);
  });

  test('unless the rest of the file leaves no doubt', async () => {
    const dates = await readPayouts(csv([row('01/10/2026'), [B, 'pay', '31/10/2026', '', '']]), BERLIN);
    expect(dates.words).toEqual([]);
    expect(dates.rows[0]?.request.paid_at).toBe('2026-09-30T22:00:00Z');
    const amounts = await readPayouts(csv([row(AT, '4.990', 'KWD'), [B, 'pay', AT, '12.500,25', 'EUR']]));
    expect(amounts.words[0]).toMatch(/^2: .*"4\.990" has no decimals, and others of the file do/);
    const said = await readPayouts(csv([row(AT, '83.95', 'EUR'), [B, 'pay', AT, '84', 'EUR']]), {
      unit: 'major',
    });
    expect(said.rows.map(({ request }) => request.expected_amount)).toEqual([8395, 8400]);
    const yen = await readPayouts(csv([row(AT, '83.95', 'EUR'), [B, 'pay', AT, '84', 'JPY']]));
    expect(yen.rows.map(({ request }) => request.expected_amount)).toEqual([8395, 84]);
  });

  test('and two cells that contradict each other leave every doubt', async () => {
    const ids = [2, 3].map((digit) => A.replace(/1$/, String(digit)));
    const dates = ['31/10/2026', '10/31/2026', '01/10/2026'];
    const { words } = await readPayouts(
      csv([A, ...ids].map((id, at) => [id, 'pay', dates[at] ?? '', '', ''])),
      BERLIN,
    );
    expect(words).toEqual([expect.stringMatching(/^4: paid_at "01\/10\/2026" is 2026-10-01/)]);
  });
});

test('a program that counts hundredths of every currency, or whole units, is asked in its own unit', async () => {
  const file = csv([[A, 'pay', '2026-10-01T00:00:00Z', '83', 'JPY']]);
  const expected = async (programUnit: AmountUnit) =>
    (await readPayouts(file, { unit: 'major', money: MONEY[programUnit] })).rows[0]?.request.expected_amount;
  expect([await expected('minor'), await expected('cent'), await expected('major')]).toEqual([83, 8300, 83]);
});
