// A section of a view: its heading, its body, and the SQL of its figures, for a reader who wants to query further.

import type { Figure } from '../reports/figure.ts';
import { asOf } from './cells.ts';
import { type Html, html, type Part } from './html.ts';
import { type Column, table } from './table.ts';

export interface SectionParts {
  /** Its anchor, by which its SQL is tested too. Lower-case letters and hyphens, unique in the view. */
  readonly id: string;
  readonly title: string;
  /** Address that the title links to. */
  readonly link?: string;
  /** Its statements run in psql as they are. */
  readonly figure: Pick<Figure<unknown>, 'sql' | 'asOf'>;
  readonly body: Part;
}

export function section({ id, title, link, figure, body }: SectionParts): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${link === undefined ? title : html`<a href="${link}">${title}</a>`}</h2>
${body}
${asOf(figure.asOf)}
${showSql(title, figure.sql)}
</section>
`;
}

export function tableSection<Row>(
  figure: Figure<Row>,
  parts: {
    readonly id: string;
    readonly title: string;
    readonly caption: string;
    /** Instead of a table without rows. */
    readonly none?: Html;
    /** Below the table. */
    readonly note?: Html;
  },
  columns: readonly Column<Row>[],
): Html {
  const { id, title, caption, none, note = null } = parts;
  const isEmpty = figure.rows.length === 0 && none !== undefined;
  const body = isEmpty ? none : [table(caption, figure.rows, columns), note];
  return section({ id, title, figure, body });
}

export function showSql(title: string, sql: string): Html {
  return html`<details class="sql">
<summary>SQL<span class="hidden"> of ${title}</span></summary>
<pre><code>${sql.trim()}</code></pre>
</details>`;
}
