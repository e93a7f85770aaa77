// Tables for the terminal (a header, rows, numbers to the right) and for other programs.

import Table from 'cli-table3';
import { stringify } from 'csv-stringify/sync';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { formatCount } from '../../contract/format.ts';
import { formatMoney } from '../../contract/money.ts';
import { asPlainText } from '../../plain-text.ts';
import { columnsOfStdout, spellForStdout } from '../../terminal.ts';
import { breakLongWords, type Column, fitColumns, PADDING, type Sacrifices } from './fit-columns.ts';

export type Cell = string | number | boolean | null;

/** For people only: programs get amount and currency as two columns. */
export interface Money {
  /** As the program counts: in minor units, such as cents, where the unit is not another. */
  readonly amount: number | bigint;
  readonly currency: string | null;
  readonly unit: AmountUnit;
}

export type TableCell = Cell | Money;

export interface TableOptions extends Sacrifices {
  /** Where all columns are shown besides on a wider terminal; null where nowhere. */
  readonly otherwise?: string | null;
}

/**
 * Returns the table as text: numbers grouped, money in the currency's unit, both to the right, true and false as yes
 * and no, null as a dash. On a terminal it is never wider than that (see fitColumns), and a line below says how many
 * columns are left out. Elsewhere it is as wide as it is.
 */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly TableCell[])[],
  { otherwise = '--json', ...sacrifices }: TableOptions = {},
): string {
  const columns = header.map(
    (title, index): Column => ({
      title: spellForStdout(title),
      cells: rows.map((row) => renderCell(row[index] ?? null)),
      isFigure: rows.some((row) => isFigure(row[index])),
    }),
  );
  const room = columnsOfStdout();
  const { shown, widths, below } = fitColumns(columns, sacrifices, room);
  const parts: string[] = [];
  for (let from = 0; from === 0 || from < rows.length; from += ROWS_AT_ONCE) {
    const end = Math.min(rows.length, from + ROWS_AT_ONCE);
    const part = new Table({
      head: from === 0 ? shown.map(({ title }) => title) : [],
      colAligns: shown.map((column) => (column.isFigure ? 'right' : 'left')),
      colWidths: widths.map((width) => width + PADDING),
      wordWrap: Number.isFinite(room),
      chars: { ...(from > 0 && NO_TOP), ...(end < rows.length && NO_BOTTOM) },
      // Colours would end up in files and pipes as well.
      style: { head: [], border: [], compact: true },
    });
    for (let index = from; index < end; index += 1) {
      part.push(shown.map(({ cells }) => cells[index] ?? ''));
      const text = below?.cells[index] ?? '';
      if (text === '' || text === renderCell(null)) continue;
      part.push([{ colSpan: shown.length, content: breakLongWords(text, widths) }]);
    }
    parts.push(part.toString());
  }
  const table = parts.join('\n');
  const gone = columns.length - shown.length - (below === null ? 0 : 1);
  if (gone === 0) return table;
  const more = `${formatCount(gone)} ${gone === 1 ? 'column' : 'columns'} more`;
  return `${table}\n${more}: ${otherwise === null ? '' : `${otherwise}, or `}a wider terminal`;
}

/** The library compares each cell with all above it: a table of 40,000 rows in one took it a minute. */
const ROWS_AT_ONCE = 100;
/** So that one part of a table is drawn onto the other. */
const NO_TOP = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '' };
const NO_BOTTOM = { bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' };

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
