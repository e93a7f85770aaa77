// Looks at a page as its server does: asks it for its content, and takes the markup apart.

import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import type { DiskSpace } from '../../../src/reports/read-growth.ts';
import type { View, ViewContent, ViewRequest } from '../../../src/web/view.ts';
import { viewDepsOf } from '../../support/status-page.ts';

export interface Visit {
  readonly content: ViewContent;
  /** The whole markup. */
  readonly html: string;
  /** As it reads: without markup, and with one space between words. */
  readonly text: string;
}

export interface Asked {
  readonly params?: ViewRequest['params'];
  readonly query?: ViewRequest['query'];
  readonly mayReadPeople?: boolean;
  /** What the database may grow into; not known where it is left out. */
  readonly space?: DiskSpace;
}

/** Returns the page, read anew: no figures of an earlier visit are kept. */
export async function visit(pool: Pool, page: View, asked: Asked = {}): Promise<Visit> {
  const { params = {}, query = {}, mayReadPeople = false, space = null } = asked;
  const deps = { ...viewDepsOf(makeDatabase(pool), 'mirror'), readSpace: async () => space };
  const request = { params, query, mayReadPeople, href: (path: string) => `/site${path}`, program: null };
  const content = await page.read(deps, request);
  const html = content.body.text;
  return { content, html, text: textOf(html) };
}

type Rows = readonly (readonly string[])[];

export interface SeenSection {
  readonly id: string;
  readonly html: string;
  readonly text: string;
  /** Null where it shows none. */
  readonly sql: string | null;
  /** The rows of each of its tables as text, a cell each. */
  readonly tables: readonly Rows[];
  /** Those of the last one. */
  readonly rows: Rows;
}

/** Returns the sections of a page. */
export function sectionsOf(html: string): SeenSection[] {
  return [...html.matchAll(/<section (?:class="[a-z ]+" )?id="([a-z-]+)"[\s\S]*?<\/section>/g)].map(
    ([whole, id = '']) => {
      const sql = /<details class="sql">[\s\S]*?<code>([\s\S]*?)<\/code>/.exec(whole)?.[1];
      const tables = [...whole.matchAll(/<table>[\s\S]*?<\/table>/g)].map(([text]) => readTable(id, text));
      return {
        id,
        html: whole,
        text: textOf(whole.replace(/<details class="sql">[\s\S]*?<\/details>/, '')),
        sql: sql === undefined ? null : withoutEscapes(sql),
        tables,
        rows: tables.at(-1) ?? [],
      };
    },
  );
}

/** Returns the section of that name. */
export function sectionOf(html: string, id: string): SeenSection {
  const found = sectionsOf(html).find((section) => section.id === id);
  if (found === undefined) throw new Error(`the page has no section ${id}`);
  return found;
}

/** Returns the addresses that the page links to. */
export function linksOf(html: string): string[] {
  return [...html.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => withoutEscapes(href));
}

/** Throws: Error where a row has not a cell for each column. */
function readTable(id: string, table: string): Rows {
  const columns = table.match(/<th scope="col"/g)?.length ?? 0;
  const rows = rowsOf(/<tbody>([\s\S]*?)<\/tbody>/.exec(table)?.[1] ?? '');
  const odd = rows.find((row) => row.length !== columns);
  if (odd !== undefined) throw new Error(`${id} has ${columns} columns, and the row ${odd.join(' | ')}`);
  return rows;
}

function rowsOf(body: string): string[][] {
  return [...body.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)].map(([, cell = '']) => textOf(cell)),
  );
}

function textOf(html: string): string {
  const words = html.replace(/<(title|desc)[^>]*>[\s\S]*?<\/\1>/g, '').replace(/<[^>]+>/g, ' ');
  return withoutEscapes(words).replace(/\s+/g, ' ').trim();
}

function withoutEscapes(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** Follows the links to the next page of a list to its end, and returns the headings of all rows in order. */
export async function readToEnd(
  pool: Pool,
  page: View,
  { section, ...asked }: Asked & { readonly section: string },
): Promise<string[]> {
  const found: string[] = [];
  let query = asked.query ?? {};
  for (;;) {
    const { html } = await visit(pool, page, { ...asked, query });
    const seen = sectionOf(html, section);
    found.push(...seen.rows.map(([heading = '']) => heading));
    const next = /<a href="([^"]+)" rel="next">/.exec(seen.html)?.[1];
    if (next === undefined) return found;
    query = Object.fromEntries(new URL(withoutEscapes(next), 'http://localhost').searchParams);
  }
}
