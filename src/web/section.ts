// A section of a page: its heading, its body, and the SQL that gives its figures, for whoever wants to ask for more.

import type { Figure } from '../reports/figure.ts';
import { asOf } from './figures.ts';
import { type Html, html, type Part } from './html.ts';
import { type Column, table } from './table.ts';

export interface SectionParts {
  /** Its anchor, and what its SQL is tested by. Lower-case letters and hyphens, once on a page. */
  readonly id: string;
  readonly title: string;
  /** What it shows: with statements that psql runs as they are. */
  readonly figure: Pick<Figure<unknown>, 'sql' | 'asOf'>;
  readonly body: Part;
}

/** Returns the section. */
export function section({ id, title, figure, body }: SectionParts): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
${asOf(figure.asOf)}
${showSql(title, figure.sql)}
</section>
`;
}

/** Returns the section of a figure whose rows are a table. */
export function tableSection<Row>(
  figure: Figure<Row>,
  parts: {
    readonly id: string;
    readonly title: string;
    readonly caption: string;
    /** What is said where there are no rows; a table without rows if left out. */
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

/** Returns the statements, folded away. */
export function showSql(title: string, sql: string): Html {
  return html`<details class="sql">
<summary>SQL<span class="hidden"> of ${title}</span></summary>
<pre><code>${sql.trim()}</code></pre>
</details>`;
}
