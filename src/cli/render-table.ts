// Tables for the terminal: a header, rows, numbers to the right.

import Table from 'cli-table3';
import { formatCount } from './format.ts';

export type Cell = string | number | boolean | null;

/** Returns the table as text: numbers grouped and to the right, true and false as yes and no, null as a dash. */
export function renderTable(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({
    head: [...header],
    colAligns: header.map((_, column) =>
      rows.some((row) => typeof row[column] === 'number') ? 'right' : 'left',
    ),
    // Colours would end up in files and pipes as well.
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) table.push(row.map(renderCell));
  return table.toString();
}

function renderCell(cell: Cell): string {
  if (cell === null) return '–';
  if (typeof cell === 'number') return formatCount(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return cell;
}
