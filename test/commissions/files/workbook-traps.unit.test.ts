// What a workbook shows and does not hold, or holds and does not show: nobody who looks at it would see that a row lost
// its guard, its payment or its day.

import { describe, expect, test } from 'vitest';
import { readBooksFile } from '../../../src/commissions/files/books-file.ts';
import { PLAIN_FILE } from '../../../src/commissions/files/file-options.ts';
import { writeExcelWorkbook } from '../../support/workbook-parts.ts';
import { readPayouts } from './read-payouts.ts';

const IDS = ['0', '1', '2', '3'].map((digit) => `${digit}b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11`);
const OPTIONS = { name: 'p.xlsx', timeZone: 'UTC', action: 'pay' } as const;

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

const merged = (...ranges: string[]) =>
  `<mergeCells>${ranges.map((range) => `<mergeCell ref="${range}"/>`).join('')}</mergeCells>`;

const book = (rows: readonly (readonly Value[])[], after = '') =>
  writeExcelWorkbook([{ rows: rowsOf(rows), after }], []);

describe('merged cells', () => {
  const paidAt = { day: OCTOBER_1 };
  const HEADER = ['commission_id', 'paid_at', 'expected_paid_at', 'note'];
  const words = (range: string, first: string) =>
    `the cells ${range} are merged, and Excel has their value in ${first} alone: unmerge them, and fill each cell`;

  test('of a guard are a problem of each of their lines', async () => {
    const rows = IDS.map((id, index) => [id, paidAt, index === 0 ? 'unpaid' : null, null]);
    const file = await readPayouts(book([HEADER, ...rows], merged('C2:C4')), OPTIONS);
    expect(file.words).toEqual([2, 3, 4].map((line) => `${line}: ${words('C2:C4', 'C2')}`));
    expect(file.rows.map(({ line }) => line)).toEqual([5]);
  });

  test('of a payment are a problem of books too', async () => {
    const rows = IDS.map((id, index) => [id, index === 0 ? paidAt : null]);
    const { problems } = await readBooksFile(book([HEADER.slice(0, 2), ...rows], merged('B2:B5')), {
      ...PLAIN_FILE,
      timeZone: 'UTC',
    });
    expect(problems).toEqual([2, 3, 4, 5].map((line) => ({ line, problem: words('B2:B5', 'B2') })));
  });

  test('across two columns that are read are a problem', async () => {
    const row = [IDS[0] ?? '', paidAt, null];
    const file = await readPayouts(book([HEADER.slice(0, 3), row], merged('B2:C2')), OPTIONS);
    expect(file.words).toEqual([`2: ${words('B2:C2', 'B2')}`]);
  });

  test('that still hold a value which does not show are a problem', async () => {
    const rows = IDS.map((id, index) => [id, { day: OCTOBER_1 + index }]);
    const file = await readPayouts(book([HEADER.slice(0, 2), ...rows], merged('B2:B3')), OPTIONS);
    expect(file.words).toEqual([2, 3].map((line) => `${line}: ${words('B2:B3', 'B2')}`));
  });

  test.each([
    ['beside what is read', 'D2:D5'],
    ['of one row, one of them read', 'C2:D2'],
    ['that are blank', 'C3:C5'],
    ['below the table', 'A7:D9'],
  ])('%s are none', async (_, range) => {
    const rows = IDS.map((id, index) => [id, paidAt, index === 0 ? 'unpaid' : null, 'by hand']);
    const file = await readPayouts(book([HEADER, ...rows], merged(range)), OPTIONS);
    expect(file.words).toEqual([]);
    expect(file.rows).toHaveLength(4);
  });
});

describe('a column in which some dates are cells of Excel and some are text', () => {
  const HEADER = ['commission_id', 'paid_at'];
  /** As a CSV of Europe comes out of Excel in the USA: 9 and 11 October as 10 September and 10 November. */
  const SEPTEMBER_10 = { day: OCTOBER_1 - 21 };
  const NOVEMBER_10 = { day: OCTOBER_1 + 40 };
  const columnOf = (...cells: Value[]) => [HEADER, ...cells.map((cell, index) => [IDS[index] ?? '', cell])];
  const words = (line: number, shown: string, other: string) =>
    `${line}: paid_at is a date, ${shown}, and that of line 4 is text, "13/10/2026": Excel may have taken ${other} for it; hand in the CSV that this was made of, or make them all dates, or all text`;

  test.each([[null], ['en-GB'], ['en-US']])(
    'is a problem of each that may be another day, with the locale %s',
    async (locale) => {
      const cells = columnOf(SEPTEMBER_10, NOVEMBER_10, '13/10/2026', '2026-10-14T12:00:00Z');
      const file = await readPayouts(book(cells), { ...OPTIONS, locale });
      expect(file.words.slice(0, 2)).toEqual([
        words(2, '2026-09-10', '2026-10-09'),
        words(3, '2026-11-10', '2026-10-11'),
      ]);
      expect(file.rows.map(({ line }) => line)).toEqual(locale === 'en-US' ? [5] : [4, 5]);
    },
  );

  test('is none where no date could be another day, and where the text has the year first', async () => {
    const october10 = { day: OCTOBER_1 + 9 };
    const october13 = { day: OCTOBER_1 + 12 };
    const one = await readPayouts(book(columnOf(october10, october13, '14/10/2026')), OPTIONS);
    expect([one.words, one.rows.length]).toEqual([[], 3]);
    const other = await readPayouts(book(columnOf(SEPTEMBER_10, '2026-10-13', '13.10.2026')), OPTIONS);
    expect([other.words, other.rows.length]).toEqual([[], 3]);
  });

  test('is a problem of books, but for rows that a result says were left out', async () => {
    const rows = [SEPTEMBER_10, '13/10/2026'].map((cell, index) => [IDS[index] ?? '', cell]);
    const read = (states: readonly string[]) =>
      readBooksFile(
        book([[...HEADER, 'result_state'], ...rows.map((cells, index) => [...cells, states[index] ?? ''])]),
        { ...PLAIN_FILE, timeZone: 'UTC' },
      );
    expect((await read(['applied', 'applied'])).problems).toMatchObject([{ line: 2 }]);
    expect((await read(['left_out', 'applied'])).problems).toEqual([]);
  });
});

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

describe('a time of day in a cell', () => {
  /** 1 October 2026, 14:36:31.680, such as =NOW() gives. */
  const NOW = OCTOBER_1 + 0.6087;
  const FIRST_OWN_STYLE = 3;
  const read = (day: number, format: string, otherColumn?: string) => {
    const cell = { day, style: FIRST_OWN_STYLE };
    const table =
      otherColumn === undefined
        ? [['paid_at'], [cell]]
        : [
            ['paid_at', otherColumn],
            ['2026-10-01', cell],
          ];
    const rows = rowsOf(table.map((cells, row) => [row === 0 ? 'commission_id' : (IDS[0] ?? ''), ...cells]));
    return readPayouts(writeExcelWorkbook([{ rows }], [], [format]), OPTIONS);
  };

  test.each([
    'm/d/yyyy',
    'dd.mm.yyyy;@',
    '[$-F800]dddd, mmmm dd, yyyy',
    '[Red]yyyy-mm-dd',
    'd" this month"',
    'd\\h\\s mmm',
  ])('is a problem of its line where the format %s does not show it', async (format) => {
    const { words, rows } = await read(NOW, format);
    expect(words).toEqual([
      '2: the cell B2 shows the date 2026-10-01 alone, and holds the time 14:36:31.680 too: enter the date alone (=TODAY(), not =NOW()), or give the cell a format with the time',
    ]);
    expect(rows).toEqual([]);
    expect((await read(OCTOBER_1, format)).words).toEqual([]);
  });

  test.each(['yyyy-mm-dd hh:mm', 'm/d/yyyy h:mm AM/PM', '[h]:mm', 'dd/mm/yyyy\\ hh:mm;@', 'mm:ss'])(
    'is read where the format %s shows it',
    async (format) => {
      const { words, rows } = await read(NOW, format);
      expect(words).toEqual([]);
      expect(rows[0]?.request.paid_at).toBe('2026-10-01T14:36:31.680Z');
    },
  );

  test('is nothing to a column that is not read', async () => {
    expect((await read(NOW, 'yyyy-mm-dd', 'made at')).words).toEqual([]);
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
