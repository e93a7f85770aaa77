// A table of a page: with a caption, headings that belong to their columns, and numbers that line up.

import { type Html, html, type Part } from './html.ts';

export interface Column {
  readonly label: string;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
}

export interface TableParts {
  /** What the table shows, for whoever hears it. */
  readonly caption: string;
  readonly columns: readonly Column[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly (readonly Part[])[];
}

/** Returns the table, which scrolls by itself where the window is too narrow for it. */
export function table({ caption, columns, rows }: TableParts): Html {
  const cell = (part: Part, index: number): Html => {
    const kind = columns[index]?.isNumber === true ? 'number' : 'text';
    if (index === 0) return html`<th scope="row" class="${kind}">${part}</th>`;
    return html`<td class="${kind}">${part}</td>`;
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<caption class="hidden">${caption}</caption>
<thead><tr>${columns.map(
    ({ label, isNumber }) =>
      html`<th scope="col" class="${isNumber === true ? 'number' : 'text'}">${label}</th>`,
  )}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>\n`)}</tbody>
</table></div>`;
}
