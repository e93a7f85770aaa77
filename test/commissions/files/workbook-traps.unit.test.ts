// What a workbook shows and does not hold, or holds and does not show: nobody who looks at it would see that a row lost
// its guard, its payment or its day.

import { describe, expect, test } from 'vitest';
import { writeExcelWorkbook } from '../../support/workbook-parts.ts';
import { readPayouts } from './read-payouts.ts';

const IDS = ['0', '1', '2', '3'].map((digit) => `${digit}b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11`);
const OPTIONS = { timeZone: 'UTC', action: 'pay' } as const;

/** The cell's value: a text, a number, or a day as Excel counts it, in Excel's own format for dates. */
type Value = string | number | { readonly day: number; readonly style?: number } | null;

/** 1 October 2026, as Excel counts days. */
const OCTOBER_1 = 46296;

/** Returns the rows as Excel writes them. */
const rowsOf = (rows: readonly (readonly Value[])[]) =>
  rows
    .map((cells, row) => {
      const written = cells.map((value, column) => {
        const place = `r="${'ABCDEFGH'[column]}${row + 1}"`;
        if (value === null) return `<c ${place}/>`;
        if (typeof value === 'string') return `<c ${place} t="inlineStr"><is><t>${value}</t></is></c>`;
        if (typeof value === 'number') return `<c ${place}><v>${value}</v></c>`;
        return `<c ${place} s="${value.style ?? 1}"><v>${value.day}</v></c>`;
      });
      return `<row r="${row + 1}">${written.join('')}</row>`;
    })
    .join('');

const book = (rows: readonly (readonly Value[])[], after = '') =>
  writeExcelWorkbook([{ rows: rowsOf(rows), after }], []);

describe('another sheet of the workbook', () => {
  const HEADER = ['commission_id', 'paid_at'];
  const pays = (id: string | undefined) => rowsOf([HEADER, [id ?? '', { day: OCTOBER_1 }]]);
  const withSheet = (rows: string, isHidden = false) =>
    readPayouts(
      writeExcelWorkbook([{ rows: pays(IDS[0]) }, { rows, ...(isHidden && { isHidden }) }], []),
      OPTIONS,
    );

  test('is refused where it has payments, whatever it calls their column', async () => {
    const words =
      'file: a header names commission_id in several places (line 1 of the sheet "Tabelle1", line 1 of the sheet "Tabelle2"), and one table is read: put all rows under one header, or hide the other sheets';
    const { rows, words: problems } = await withSheet(pays(IDS[1]));
    expect([rows, problems]).toEqual([[], [words]]);
    const own = rowsOf([['Provision'], [IDS[1] ?? '']]);
    const mapped = await readPayouts(
      writeExcelWorkbook(
        [
          {
            rows: rowsOf([
              ['Provision', 'paid_at'],
              [IDS[0] ?? '', null],
            ]),
          },
          { rows: own },
        ],
        [],
      ),
      { ...OPTIONS, renamed: new Map([['commission_id', 'Provision']]) },
    );
    expect(mapped.words).toEqual([words]);
  });

  test.each([
    [
      'is named where it has something else',
      rowsOf([['Notes'], ['by hand']]),
      ['not read: the sheet "Tabelle2"'],
    ],
    ['is named where it has a header alone', rowsOf([HEADER]), ['not read: the sheet "Tabelle2"']],
    ['is not named where it is empty', rowsOf([[null, '']]), []],
  ])('%s', async (_, rows, unread) => {
    const file = await withSheet(rows);
    expect([file.words, file.rows.length, file.table.notes]).toEqual([[], 1, unread]);
  });

  test('is left alone where it is hidden', async () => {
    const file = await withSheet(pays(IDS[1]), true);
    expect([file.words, file.rows.length, file.table.notes]).toEqual([[], 1, []]);
  });
});

test('charts that have sheets to themselves, before the rows, are passed over', async () => {
  const chart = { rows: '', isChart: true } as const;
  const rows = rowsOf([
    ['commission_id', 'paid_at'],
    [IDS[0] ?? '', '2026-10-01'],
  ]);
  const file = await readPayouts(writeExcelWorkbook([chart, chart, { rows }], []), OPTIONS);
  expect([file.words, file.rows.length]).toEqual([[], 1]);
  const charts = await readPayouts(writeExcelWorkbook([chart], []), OPTIONS);
  expect(charts.words).toEqual([expect.stringMatching(/^file: /)]);
});

test('a date in the header is shown as a date', async () => {
  const { words } = await readPayouts(
    book([
      [{ day: OCTOBER_1 }, 'Payouts'],
      ['one', 'two'],
    ]),
    OPTIONS,
  );
  expect(words.join(' ')).toContain('"2026-10-01"');
});
