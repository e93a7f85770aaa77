// A table of a view, with a caption and headings for screen readers.

import { type Html, html, type Part } from './html.ts';

export interface Column<Row> {
  readonly label: string;
  readonly className: 'text' | 'number';
  readonly cellOf: (row: Row) => Part;
}

export function column<Row>(label: string, cellOf: (row: Row) => Part): Column<Row> {
  return { label, className: 'text', cellOf };
}

/** A column aligned to the right. */
export function numbers<Row>(label: string, cellOf: (row: Row) => Part): Column<Row> {
  return { label, className: 'number', cellOf };
}

/** The table scrolls if the window is too narrow for it. The first cell of a row is its heading. */
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
