// Tables for other programs: RFC 4180, a header, a line per row.

import type { Cell } from './render-table.ts';

/** Returns the table as CSV without a line end after its last row. Null is an empty cell. */
export function renderCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => row.map(renderCell).join(',')).join('\r\n');
}

function renderCell(cell: Cell): string {
  const text = cell === null ? '' : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
