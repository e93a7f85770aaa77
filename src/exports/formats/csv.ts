// CSV for other programs: UTF-8, commas, a header, LF; null is an empty cell, and an empty text is "".
//
// Decision: no apostrophe before values that a spreadsheet would run (=HYPERLINK(…)), because a program that loads the
// file must get the value. For spreadsheets there is xlsx, whose text is never a formula.

import type { Column } from '../relation.ts';
import type { Row } from '../rows.ts';
import { expressAsText, type Format, spellText } from './format.ts';

export const CSV: Format = {
  contentType: 'text/csv; charset=utf-8',
  express: expressAsText,
  async write({ columns, rows }, sink) {
    await sink(Buffer.from(`${columns.map(({ name }) => spellCell(name)).join(',')}\n`));
    for await (const batch of rows) {
      let text = '';
      for (const row of batch) text += `${spellRow(row, columns)}\n`;
      await sink(Buffer.from(text));
    }
  },
};

const NEEDS_QUOTES = /[",\r\n]/;

function spellRow(row: Row, columns: readonly Column[]): string {
  const cells = columns.map((column, index) => {
    const value = row[index] ?? null;
    return value === null ? '' : spellCell(spellText(value, column));
  });
  // Most readers would skip an empty line.
  return cells.length === 1 && cells[0] === '' ? '""' : cells.join(',');
}

function spellCell(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
