// Links through a list that is longer than one page.

import { type Html, html } from './html.ts';
import { withQuery } from './query.ts';
import type { ViewRequest } from './view.ts';

/** Returns links to the first and the next page; null if there is only one page. */
export function pager(
  { href }: Pick<ViewRequest, 'href'>,
  list: {
    /** Name of the list, for a screen reader. */
    readonly label: string;
    readonly path: string;
    /** Further parameters, on every page. */
    readonly query?: Readonly<Record<string, string | number | null>>;
    /** Name of the parameter with the first row of a page; `before` if left out. */
    readonly cursor?: string;
    /** Its value on this page; null on the first. */
    readonly at: string | number | null;
    /** Its value on the next page; null on the last. */
    readonly next: string | number | null;
    /** Section of the view, such as #attempts. */
    readonly anchor?: string;
    readonly more?: string;
  },
): Html | null {
  const { label, path, query = {}, cursor = 'before', at, next, anchor = '', more = 'Older' } = list;
  if (at === null && next === null) return null;
  const link = (to: string | number | null) =>
    `${href(withQuery(path, { ...query, [cursor]: to }))}${anchor}`;
  return html`<nav class="pager" aria-label="Pages of ${label}">
${at !== null && html`<a href="${link(null)}">First page</a>`}
${next !== null && html`<a href="${link(next)}" rel="next">${more}</a>`}
</nav>`;
}
