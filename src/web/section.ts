// A section of a page: its heading, its body, and the SQL that gives its figures, for whoever wants to ask for more.

import { type Html, html } from './html.ts';

export interface SectionParts {
  /** Its anchor, and what its SQL is tested by. Lower-case letters and hyphens, once on a page. */
  readonly id: string;
  readonly title: string;
  /**
   * Statements that psql runs as they are, with the mirror's schema in the search path; null where no figure is shown.
   */
  readonly sql: string | null;
  readonly body: Html;
}

/** Returns the section. */
export function section({ id, title, sql, body }: SectionParts): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
${sql !== null && showSql(title, sql)}
</section>
`;
}

/** Returns the statements, folded away. */
export function showSql(title: string, sql: string): Html {
  return html`<details class="sql">
<summary>SQL<span class="hidden"> of ${title}</span></summary>
<pre><code>${sql.trim()}</code></pre>
</details>`;
}
