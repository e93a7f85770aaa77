// Where the rows of a file are: a title may be above its header, other sheets beside it, and some of it hidden.

import { describe, expect, test } from 'vitest';
import { readBooksFile } from '../../../src/payments/files/books-file.ts';
import { writeExcelWorkbook } from '../../support/workbook-parts.ts';
import { readPayouts } from './read-payouts.ts';

const A = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const B = '1b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c12';
const AT = '2026-10-01T12:00:00Z';
const PAY = { action: 'pay' } as const;
const MAPPED = {
  ...PAY,
  renamed: new Map([
    ['commission_id', 'Provisions-ID'],
    ['paid_at', 'Bezahlt am'],
  ]),
};

type Sheet = readonly (readonly string[])[];

const TABLE: Sheet = [
  ['commission_id', 'paid_at'],
  [A, AT],
  [B, AT],
];
const OWN: Sheet = [['Auszahlung, Oktober'], ['Provisions-ID', 'Bezahlt am'], [A, AT]];
/** As Apple Numbers writes it before the tables of a document. */
const SUMMARY: Sheet = [
  ['This document was exported from Numbers.'],
  ['Numbers Sheet Name', 'Numbers Table Name', 'Excel Worksheet Name'],
  ['Payouts', 'Table 1', 'Tabelle2'],
];

const cell = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
const rowsOf = (rows: Sheet) =>
  rows
    .map((cells, row) => {
      const written = cells.map((text, column) => cell(`${'ABCDEFG'[column]}${row + 1}`, text));
      return `<row r="${row + 1}">${written.join('')}</row>`;
    })
    .join('');
const workbook = (...sheets: readonly Sheet[]) =>
  writeExcelWorkbook(
    sheets.map((rows) => ({ rows: rowsOf(rows) })),
    [],
  );

const csv = (rows: Sheet, delimiter = ',') => rows.map((cells) => cells.join(delimiter)).join('\n');

const TITLE: Sheet = [['Payouts, October 2026; all of them'], [], ['Batch', B], ...TABLE];

describe('a header below a title is found, and its rows keep their lines', () => {
  test.each([
    ['in CSV', csv(TITLE)],
    ['in CSV with semicolons', csv(TITLE, ';')],
    ['in CSV with tabs', csv(TITLE, '\t')],
    ['in CSV whose title is as wide as the table', csv([['Payouts', ''], ['', ''], ...TITLE.slice(2)], ';')],
    ['in a workbook', workbook(TITLE)],
  ])('%s', async (_, file) => {
    const { rows, words } = await readPayouts(file, PAY);
    expect(words).toEqual([]);
    expect(rows.map(({ line, request }) => [line, request.commission_id])).toEqual([
      [5, A],
      [6, B],
    ]);
    const books = await readBooksFile(typeof file === 'string' ? Buffer.from(file) : file);
    expect([books.problems, books.rows.map(({ line }) => line)]).toEqual([[], [5, 6]]);
  });

  test.each([
    ['CSV', csv(OWN, ';')],
    ['a workbook', workbook(OWN)],
    ['the second sheet', workbook(SUMMARY, OWN)],
  ])('under names of its own, which are proposed without --map: %s', async (_, file) => {
    const { rows, words } = await readPayouts(file, MAPPED);
    expect([words, rows.map(({ line }) => line)]).toEqual([[], [3]]);
    expect((await readPayouts(file, PAY)).words).toEqual([
      '2: the column commission_id is missing: give --map commission_id=NAME if it is one of "Provisions-ID", "Bezahlt am"',
    ]);
  });
});

test('the table is read on whichever sheet it is, and the others are named', async () => {
  const { rows, words, table } = await readPayouts(
    workbook(SUMMARY, [['Table 1'], ...TABLE], [['Notes']], [['']]),
    PAY,
  );
  expect([words, rows.map(({ line }) => line)]).toEqual([[], [3, 4]]);
  expect(table.notes).toEqual(['not read: the sheets "Tabelle1", "Tabelle3"']);
});

test('another sheet with payments is left alone where it is hidden', async () => {
  const sheets = [{ rows: rowsOf(TABLE) }, { rows: rowsOf(TABLE), isHidden: true as const }];
  const { words, rows, table } = await readPayouts(writeExcelWorkbook(sheets, []), PAY);
  expect([words, rows.length, table.notes]).toEqual([[], 2, []]);
});

test('charts that have sheets to themselves, before the rows, are passed over', async () => {
  const chart = { rows: '', isChart: true } as const;
  const file = await readPayouts(writeExcelWorkbook([chart, chart, { rows: rowsOf(TABLE) }], []), PAY);
  expect([file.words, file.rows.length]).toEqual([[], 2]);
  const charts = await readPayouts(writeExcelWorkbook([chart], []), PAY);
  expect(charts.words).toEqual([expect.stringMatching(/^file: /)]);
});

test('a date in the header is shown as a date', async () => {
  const rows = `<row r="1"><c r="A1" s="1"><v>46296</v></c>${cell('B1', 'Payouts')}</row>`;
  const more = `<row r="2">${cell('A2', 'one')}${cell('B2', 'two')}</row>`;
  const { words } = await readPayouts(writeExcelWorkbook([{ rows: rows + more }], []), PAY);
  expect(words.join(' ')).toContain('"2026-10-01"');
});

test('a header alone, as of an empty template, gives way to a table', async () => {
  const { rows, words } = await readPayouts(workbook(TABLE.slice(0, 1), TABLE), PAY);
  expect([words, rows.length]).toEqual([[], 2]);
});

test('several headers are refused, each with its place, whatever they call their columns', async () => {
  const two = [...TABLE, ['commission_id', 'paid_at'], ['2b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c13', AT]];
  const begin = 'file: the header is in several places';
  const end = 'and one table is read: put all rows under one header';
  expect((await readPayouts(csv(two), PAY)).words).toEqual([`${begin} (line 1, line 4), ${end}`]);
  expect((await readPayouts(workbook(SUMMARY, TABLE, [['Table 2'], ...TABLE]), PAY)).words).toEqual([
    `${begin} (line 1 of the sheet "Tabelle2", line 2 of the sheet "Tabelle3"), ${end}, or hide the other sheets`,
  ]);
  const second = [['Provisions-ID'], [B]];
  expect((await readPayouts(workbook(OWN.slice(1), second), MAPPED)).words).toEqual([
    `${begin} (line 1 of the sheet "Tabelle1", line 1 of the sheet "Tabelle2"), ${end}, or hide the other sheets`,
  ]);
});
