// An Excel workbook for people: times are dates in UTC (to the millisecond, as far as Excel goes), numbers are numbers.
//
// Text is written as text, which no spreadsheet runs, so a name such as =HYPERLINK(…) needs no apostrophe. A sheet has
// at most 1,048,576 rows: what is beyond goes on in a second one, with its own header.

import { ConfigError } from '../../errors.ts';
import type { Column } from '../relation.ts';
import type { Row, Rows } from '../rows.ts';
import { expressAsText, type Format, spellText } from './format.ts';
import { LARGEST_NUMBER, LONGEST_TEXT, spellForXml } from './workbook-text.ts';

type Cell = string | number | boolean | Date | null;

/** Excel's own limit for the name of a sheet. */
const LONGEST_NAME = 31;
/** Excel's dates begin in 1900, with a leap day that there was not: before March it and others differ. */
const FIRST_DATE = Date.UTC(1900, 2, 1);
const LAST_DATE = Date.UTC(9999, 11, 31);

export const XLSX: Format = {
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  express: expressAsText,
  async write({ title, columns, rows }, sink) {
    const { writeXlsxStream } = await import('hucre/xlsx');
    const stream = writeXlsxStream(readCells(rows, columns), {
      name: title.slice(0, LONGEST_NAME),
      columns: columns.map(({ name, kind }) => ({
        header: name,
        width: WIDTHS[kind] ?? 24,
        ...formatOf(kind),
      })),
      freezePane: { rows: 1 },
    });
    for await (const bytes of stream) await sink(bytes);
  },
};

const WIDTHS: Partial<Record<Column['kind'], number>> = {
  timestamp: 20,
  date: 12,
  integer: 12,
  sum: 12,
  boolean: 8,
};

function formatOf(kind: Column['kind']): { numFmt?: string } {
  if (kind === 'timestamp') return { numFmt: 'yyyy-mm-dd hh:mm:ss' };
  return kind === 'date' ? { numFmt: 'yyyy-mm-dd' } : {};
}

async function* readCells(rows: Rows, columns: readonly Column[]): AsyncGenerator<Cell[]> {
  for await (const batch of rows) for (const row of batch) yield readRow(row, columns);
}

function readRow(row: Row, columns: readonly Column[]): Cell[] {
  return columns.map((column, index) => {
    const text = row[index] ?? null;
    return text === null ? null : readCell(text, column);
  });
}

function readCell(text: string, column: Column): Cell {
  const spelled = spellText(text, column);
  switch (column.kind) {
    case 'boolean':
      return spelled === 'true';
    case 'integer':
    case 'sum':
      return Math.abs(Number(text)) <= LARGEST_NUMBER ? Number(text) : text;
    case 'double':
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'timestamp':
    case 'date': {
      const date = new Date(spelled);
      return date.getTime() >= FIRST_DATE && date.getTime() < LAST_DATE ? date : spelled;
    }
    default:
      return spellForCell(spelled, column);
  }
}

function spellForCell(text: string, { name }: Column): string {
  if (text.length > LONGEST_TEXT) {
    throw new ConfigError([
      `a text of the column ${name} is longer than a cell of Excel may be (32,767 characters): export to CSV or Parquet, or leave its row out with --where`,
    ]);
  }
  return spellForXml(text);
}
