// How a list's parameters are spelled in its address.

import type { Expansion, Filters, ListedResource } from '../contract/resources.ts';

export interface ListQuery<R extends ListedResource> {
  readonly page: number;
  readonly limit: number;
  readonly filters?: Filters<R>;
  readonly expand?: readonly Expansion<R>[];
}

/**
 * Returns the query string of a list, without the question mark.
 *
 * Shape: `page`, `limit`, the filters, `expand`; one value as `name=a`, several as `name[]=a&name[]=b`.
 * Throws: TypeError on a filter with an empty array, which would silently ask for everything.
 * Source: contract, Conventions, 2 and 3.
 */
export function listQueryString<R extends ListedResource>(query: ListQuery<R>): string {
  const pairs: string[] = [`page=${query.page}`, `limit=${query.limit}`];
  const filters: Record<string, string | readonly string[] | undefined> = query.filters ?? {};
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined) continue;
    const values = typeof value === 'string' ? [value] : value;
    if (values.length === 0) throw new TypeError(`the filter ${name} holds no value`);
    pairs.push(...parameter(name, values));
  }
  pairs.push(...parameter('expand', query.expand ?? []));
  return pairs.join('&');
}

function parameter(name: string, values: readonly string[]): string[] {
  const key = values.length === 1 ? name : `${name}[]`;
  return values.map((value) => `${key}=${encodeURIComponent(value)}`);
}
