// The way through a list that is longer than a page of the site.

import { type Html, html } from './html.ts';

/** Returns links to the first page and to the next one; nothing where everything is on this page. */
export function pager({
  label,
  first,
  next,
  more = 'Older',
}: {
  /** Of what, for whoever hears it. */
  readonly label: string;
  /** Address of the first page; null on it. */
  readonly first: string | null;
  /** Address of the next page; null on the last. */
  readonly next: string | null;
  readonly more?: string;
}): Html | null {
  if (first === null && next === null) return null;
  return html`<nav class="pager" aria-label="Pages of ${label}">
${first !== null && html`<a href="${first}">First page</a>`}
${next !== null && html`<a href="${next}" rel="next">${more}</a>`}
</nav>`;
}
