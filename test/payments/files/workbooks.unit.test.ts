// Workbooks as Excel saves them, which another than our own writer made.

import { expect, test } from 'vitest';
import { readBatchFile } from '../../../src/payments/files/batch-file.ts';
import { PLAIN_FILE } from '../../../src/payments/files/file-options.ts';
import { writeExcelWorkbook } from '../../support/workbook-parts.ts';

const A = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const B = '1b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c12';
const STRINGS = [
  'commission_id',
  'action',
  'paid_at',
  'expected_amount',
  'expected_currency',
  A,
  B,
  'pay',
  'EUR',
];
const HEADER = `<row r="1">${['A', 'B', 'C', 'D', 'E'].map((letter, index) => `<c r="${letter}1" t="s"><v>${index}</v></c>`).join('')}</row>`;

/** A row of a payment; `paidAt` and `amount` are the cells C and D. */
const payRow = (row: number, id: number, paidAt: string, amount: string) =>
  `<row r="${row}"><c r="A${row}" t="s"><v>${id}</v></c><c r="B${row}" t="s"><v>7</v></c>${paidAt}${amount}<c r="E${row}" t="s"><v>8</v></c></row>`;

async function read(rows: string, unit: 'major' | null = null, columns = '') {
  const bytes = writeExcelWorkbook(
    [
      { rows: HEADER.replaceAll('1"', '9"'), isHidden: true },
      { rows: HEADER + rows, before: columns },
    ],
    STRINGS,
  );
  const file = await readBatchFile(bytes, {
    ...PLAIN_FILE,
    timeZone: 'Europe/Berlin',
    unit,
    action: null,
    evenIfRefunded: false,
  });
  const words = file.problems.map(({ line, problem }) => `${line}: ${problem}`);
  return { words, requests: file.rows.map(({ request }) => request), notes: file.table.notes };
}

test('dates of any format, numbers, and results of formulas are read from the first sheet that is visible', async () => {
  const { words, requests } = await read(
    payRow(2, 5, '<c r="C2" s="1"><v>46296</v></c>', '<c r="D2"><f>80+4.3</f><v>84.300000000000011</v></c>') +
      payRow(5, 6, '<c r="C5" s="2"><v>46296.5</v></c>', '<c r="D5"><v>84</v></c>'),
    'major',
  );
  expect(words).toEqual([]);
  expect(requests).toMatchObject([
    { commission_id: A, paid_at: '2026-09-30T22:00:00Z', expected_amount: 8430, expected_currency: 'EUR' },
    { commission_id: B, paid_at: '2026-10-01T10:00:00Z', expected_amount: 8400 },
  ]);
});

test.each([
  [
    'a formula without its result',
    '<c r="D2"><f>A1*2</f></c>',
    /^2: the cell D2 is the formula "=A1\*2", and its result is not/,
  ],
  [
    'a formula that it shares with another cell, without its result',
    '<c r="D2"><f t="shared" si="0"/></c>',
    /^2: the cell D2 is a formula, and its result is not/,
  ],
  ['an error', '<c r="D2" t="e"><v>#REF!</v></c>', /^2: the cell D2 is "#REF!"/],
  [
    'a number of too many digits',
    '<c r="D2"><v>1234567890123456</v></c>',
    /^2: the cell D2 is a number of more than 15/,
  ],
])('%s is named by its cell, and expects nothing else', async (_, amount, problem) => {
  const { words, requests } = await read(payRow(2, 5, '<c r="C2" s="1"><v>46296</v></c>', amount));
  expect(words[0]).toMatch(problem);
  expect(requests).toEqual([]);
});

test('a time alone is no date', async () => {
  const { words } = await read(payRow(2, 5, '<c r="C2" s="2"><v>0.5</v></c>', ''));
  expect(words[0]).toBe('2: the cell C2 is a time without a date');
});

test('hidden rows, such as those of a filter, and hidden columns are read, and that is said', async () => {
  const paidOn = (row: number) => `<c r="C${row}" s="1"><v>46296</v></c>`;
  const hidden = payRow(2, 5, paidOn(2), '').replace('<row ', '<row hidden="1" ');
  const seen = payRow(3, 6, paidOn(3), '');
  // A row in which nothing is says nothing, hidden or not.
  const { words, requests, notes } = await read(
    `${hidden}${seen}<row r="4" hidden="1"><c r="A4" s="1"/></row>`,
  );
  expect(words).toEqual([]);
  expect(requests).toMatchObject([{ commission_id: A }, { commission_id: B }]);
  expect(notes).toEqual(['read although hidden: 1 row of the sheet, the first on line 2']);
  const columns = '<cols><col min="3" max="4" hidden="1"/><col min="9" max="9" hidden="1"/></cols>';
  expect((await read(seen, null, columns)).notes).toEqual([
    'read although hidden: the columns "paid_at", "expected_amount"',
  ]);
});
