// Tables for the terminal (a header, rows, numbers to the right) and for other programs.

import Table from 'cli-table3';
import { stringify } from 'csv-stringify/sync';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { formatCount } from '../../contract/format.ts';
import { formatMoney } from '../../contract/money.ts';
import { asPlainText } from '../../plain-text.ts';
import { spellForStdout } from '../../terminal.ts';

export type Cell = string | number | boolean | null;

/** For people only: programs get amount and currency as two columns. */
export interface Money {
  /** As the program counts: in minor units, such as cents, where the unit is not another. */
  readonly amount: number | bigint;
  readonly currency: string | null;
  readonly unit: AmountUnit;
}

export type TableCell = Cell | Money;

/** The library compares each cell with all above it: 10,000 rows in one table took it ten seconds. */
const MOST_ROWS = 1_000;

/**
 * Returns the rows as a table, as wide as it is, and as another below it after each thousand: numbers grouped, money in
 * the currency's unit, both to the right, true and false as yes and no, null as a dash.
 */
export function renderTable(header: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const colAligns = header.map((_, index) => (rows.some((row) => isFigure(row[index])) ? 'right' : 'left'));
  const tables: string[] = [];
  for (let from = 0; from === 0 || from < rows.length; from += MOST_ROWS) {
    const table = new Table({
      head: header.map(spellForStdout),
      colAligns,
      // Colours would end up in files and pipes as well.
      style: { head: [], border: [], compact: true },
    });
    for (const row of rows.slice(from, from + MOST_ROWS)) table.push(row.map(renderCell));
    tables.push(table.toString());
  }
  return tables.join('\n');
}

/** Returns the rows as a table, by the title of each column. */
export function renderColumns<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => TableCell>>,
): string {
  const cells = rows.map((row) => Object.values(columns).map((read) => read(row)));
  return renderTable(Object.keys(columns), cells);
}

function isFigure(cell: TableCell | undefined): boolean {
  return typeof cell === 'number' || (typeof cell === 'object' && cell !== null);
}

function renderCell(cell: TableCell): string {
  if (cell === null) return spellForStdout('–');
  if (typeof cell === 'object') return asPlainText(formatMoney(cell.amount, cell.currency, cell.unit));
  if (typeof cell === 'number') return formatCount(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return spellForStdout(asPlainText(cell));
}

/** Returns the table as CSV (RFC 4180) without a line end after its last row. Null is an empty cell. */
export function renderCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return stringify([header, ...rows], {
    record_delimiter: 'windows',
    eof: false,
    // A line end of another system within a cell would be left bare.
    quoted_match: /[\r\n]/,
    cast: { boolean: String },
  });
}
