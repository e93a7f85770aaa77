// An Excel workbook for people: numbers are numbers; times are dates in UTC (to the millisecond, as far as Excel goes),
// under a name that ends in _utc; amounts are in the currency's own unit, under a name that ends in _major.
//
// Text is written as text, which no spreadsheet runs, so a name such as =HYPERLINK(…) needs no apostrophe. A sheet has
// at most 1,048,576 rows: further rows go to a second sheet, with its own header.

import { ConfigError } from '../../base/errors.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import { type Column, hasColumn } from '../relation.ts';
import type { Row, Rows } from '../rows.ts';
import { expressAsText, type Format, spellText } from './format.ts';
import { cellOfAmount, LARGEST_NUMBER, LONGEST_TEXT, spellForXml } from './workbook-text.ts';

type Cell = string | number | boolean | Date | null;

/** Excel's limit for the name of a sheet. */
const LONGEST_NAME = 31;
/** Excel's dates begin in 1900, with a leap day that did not exist: before March, Excel and others differ. */
const FIRST_DATE = Date.UTC(1900, 2, 1);
const LAST_DATE = Date.UTC(9999, 11, 31);

export const XLSX: Format = {
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  express: expressAsText,
  async write({ title, columns, money, rows }, sink) {
    const { writeXlsxStream } = await import('hucre/xlsx');
    const amounts = new Set(columns.filter((column) => isAmount(column, columns)));
    const stream = writeXlsxStream(readCells(rows, columns, { amounts, money }), {
      name: title.slice(0, LONGEST_NAME),
      columns: columns.map((column) => ({
        header: amounts.has(column) ? `${column.name}_major` : nameOf(column),
        width: WIDTHS[column.kind] ?? 24,
        ...(amounts.has(column) ? { numFmt: AMOUNT_FORMAT } : formatOf(column.kind)),
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

/** A column has one format for all currencies, and those have up to four digits. */
const AMOUNT_FORMAT = '#,##0.00##';
const CURRENCY = 'currency';

/** Returns whether it is in the unit of commissions.amount, of which the row names the currency. */
function isAmount({ name, kind }: Column, columns: readonly Column[]): boolean {
  const isMoney = kind === 'sum' ? !name.endsWith('_cents') : kind === 'integer' && name === 'amount';
  return isMoney && hasColumn({ columns }, CURRENCY);
}

// A cell has no zone: without it, a filter by month would take the dates as those of the reader's own.
function nameOf({ name, kind }: Column): string {
  return kind === 'timestamp' ? `${name}_utc` : name;
}

function formatOf(kind: Column['kind']): { numFmt?: string } {
  if (kind === 'timestamp') return { numFmt: 'yyyy-mm-dd hh:mm:ss' };
  return kind === 'date' ? { numFmt: 'yyyy-mm-dd' } : {};
}

interface Amounts {
  readonly amounts: ReadonlySet<Column>;
  readonly money: MoneyFormat;
}

async function* readCells(rows: Rows, columns: readonly Column[], how: Amounts): AsyncGenerator<Cell[]> {
  for await (const batch of rows) for (const row of batch) yield readRow(row, columns, how);
}

function readRow(row: Row, columns: readonly Column[], { amounts, money }: Amounts): Cell[] {
  const currency = row[columns.findIndex(({ name }) => name === CURRENCY)] ?? null;
  return columns.map((column, index) => {
    const text = row[index] ?? null;
    if (text === null || !amounts.has(column)) return text === null ? null : readCell(text, column);
    // Without a currency its unit is not known: text is in no sum.
    return currency === null ? text : cellOfAmount(BigInt(text), money.digitsOf(currency));
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
