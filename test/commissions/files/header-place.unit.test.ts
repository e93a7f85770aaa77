// Where the table of a file begins: a title may be above its header, and other sheets before it.

import { describe, expect, test } from 'vitest';
import { readBooksFile } from '../../../src/commissions/files/books-file.ts';
import { writeExcelWorkbook } from '../../support/workbook-parts.ts';
import { readPayouts } from './read-payouts.ts';

const A = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const B = '1b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c12';
const AT = '2026-10-01T12:00:00Z';
const PAY = { action: 'pay' } as const;

type Sheet = readonly (readonly string[])[];

const TABLE: Sheet = [
  ['commission_id', 'paid_at'],
  [A, AT],
  [B, AT],
];
/** As Apple Numbers writes it before the tables of a document. */
const SUMMARY: Sheet = [
  ['This document was exported from Numbers.'],
  ['Numbers Sheet Name', 'Numbers Table Name', 'Excel Worksheet Name'],
  ['Payouts', 'Table 1', 'Tabelle2'],
];

const workbook = (...sheets: readonly Sheet[]) =>
  writeExcelWorkbook(
    sheets.map((rows) => ({
      rows: rows
        .map((cells, row) => {
          const written = cells.map(
            (text, column) =>
              `<c r="${'ABCDEFG'[column]}${row + 1}" t="inlineStr"><is><t>${text}</t></is></c>`,
          );
          return `<row r="${row + 1}">${written.join('')}</row>`;
        })
        .join(''),
    })),
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

  test('under names of its own, with --map', async () => {
    const own = [['Auszahlung, Oktober'], ['Provisions-ID', 'Bezahlt am'], [A, AT]];
    const renamed = new Map([
      ['commission_id', 'Provisions-ID'],
      ['paid_at', 'Bezahlt am'],
    ]);
    for (const file of [csv(own, ';'), workbook(own), workbook(SUMMARY, own)]) {
      const { rows, words } = await readPayouts(file, { ...PAY, renamed });
      expect([words, rows.map(({ line }) => line)]).toEqual([[], [3]]);
    }
  });

  test('under names of its own, without --map: those are proposed, and not the title', async () => {
    const own = [['Auszahlung, Oktober'], ['Provisions-ID', 'Bezahlt am'], [A, AT]];
    for (const file of [csv(own, ';'), workbook(own), workbook(SUMMARY, own)]) {
      expect((await readPayouts(file, PAY)).words).toEqual([
        '2: the column commission_id is missing: give --map commission_id=NAME if it is one of "Provisions-ID", "Bezahlt am"',
      ]);
    }
  });
});

test('the table is read on whichever sheet it is, and the others are named', async () => {
  const { rows, words, table } = await readPayouts(
    workbook(SUMMARY, [['Table 1'], ...TABLE], [['Notes']]),
    PAY,
  );
  expect([words, rows.map(({ line }) => line)]).toEqual([[], [3, 4]]);
  expect(table.notes).toEqual(['not read: the sheets "Tabelle1", "Tabelle3"']);
});

test('a header alone, as of an empty template, gives way to a table', async () => {
  const { rows, words } = await readPayouts(workbook(TABLE.slice(0, 1), TABLE), PAY);
  expect([words, rows.length]).toEqual([[], 2]);
});

test('several headers are refused, each with its place', async () => {
  const two = [...TABLE, ['commission_id', 'paid_at'], ['2b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c13', AT]];
  const begin = 'file: a header names commission_id in several places';
  const end = 'and one table is read: put all rows under one header';
  expect((await readPayouts(csv(two), PAY)).words).toEqual([`${begin} (line 1, line 4), ${end}`]);
  expect((await readPayouts(workbook(SUMMARY, TABLE, [['Table 2'], ...TABLE]), PAY)).words).toEqual([
    `${begin} (line 1 of the sheet "Tabelle2", line 2 of the sheet "Tabelle3"), ${end}, or hide the other sheets`,
  ]);
});
