// What is shown where an address names something that the mirror does not have.

import { html } from '../html.ts';
import type { PageContent } from '../page.ts';

/** Returns the page that says so, with the way to where it might be. */
export function notThere(what: string, back: { readonly href: string; readonly label: string }): PageContent {
  return {
    title: 'Not found',
    status: 404,
    body: html`<h1>Not found</h1>
<p>${what}</p>
<p><a href="${back.href}">${back.label}</a></p>`,
  };
}
