// A table of a page: with a caption, headings that belong to their columns, and numbers that line up.

import { type Html, html, type Part } from './html.ts';

export interface Column<Row> {
  readonly label: string;
  readonly className: 'text' | 'number';
  readonly cellOf: (row: Row) => Part;
}

/** Returns a column. */
export function column<Row>(label: string, cellOf: (row: Row) => Part): Column<Row> {
  return { label, className: 'text', cellOf };
}

/** Returns a column of numbers, which are aligned to the right. */
export function numbers<Row>(label: string, cellOf: (row: Row) => Part): Column<Row> {
  return { label, className: 'number', cellOf };
}

/**
 * Returns the table, which scrolls by itself where the window is too narrow for it. The caption says what it shows, for
 * whoever hears it; the first cell of a row is its heading.
 */
export function table<Row>(caption: string, rows: readonly Row[], columns: readonly Column<Row>[]): Html {
  const cell = (row: Row) => (of: Column<Row>, index: number) =>
    index === 0
      ? html`<th scope="row" class="${of.className}">${of.cellOf(row)}</th>`
      : html`<td class="${of.className}">${of.cellOf(row)}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<caption class="hidden">${caption}</caption>
<thead><tr>${columns.map(({ label, className }) => html`<th scope="col" class="${className}">${label}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map(cell(row))}</tr>\n`)}</tbody>
</table></div>`;
}
