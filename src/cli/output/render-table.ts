// Tables for the terminal (a header, rows, numbers to the right) and for other programs.

import Table from 'cli-table3';
import { stringify } from 'csv-stringify/sync';
import { asPlainText } from '../../base/plain-text.ts';
import { formatCount } from '../../contract/format.ts';

export type Cell = string | number | boolean | null;

/** An amount for people, aligned as a number. Programs get amount and currency as two columns. */
export interface Figure {
  readonly figure: string;
}

export type TableCell = Cell | Figure;

/** The library compares each cell with all above it: 10,000 rows in one table took ten seconds. */
const MOST_ROWS = 1_000;

/**
 * Returns the rows as a table, with a new one below it after each thousand rows: numbers grouped, numbers and amounts
 * to the right, true and false as yes and no, null as a dash.
 */
export function renderTable(header: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const colAligns = header.map((_, index) => (rows.some((row) => isFigure(row[index])) ? 'right' : 'left'));
  const tables: string[] = [];
  for (let from = 0; from === 0 || from < rows.length; from += MOST_ROWS) {
    const table = new Table({
      head: [...header],
      colAligns,
      // Colours would end up in files and pipes as well.
      style: { head: [], border: [], compact: true },
    });
    for (const row of rows.slice(from, from + MOST_ROWS)) table.push(row.map(renderCell));
    tables.push(table.toString());
  }
  return tables.join('\n');
}

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
  if (cell === null) return '–';
  if (typeof cell === 'object') return asPlainText(cell.figure);
  if (typeof cell === 'number') return formatCount(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return asPlainText(cell);
}

/** Returns the table as CSV (RFC 4180) without a line end after its last row. Null is an empty cell. */
export function renderCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return stringify([header, ...rows], {
    record_delimiter: 'windows',
    eof: false,
    // Otherwise a cell with another system's line end is not quoted.
    quoted_match: /[\r\n]/,
    cast: { boolean: String },
  });
}
