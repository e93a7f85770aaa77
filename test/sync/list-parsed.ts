// The lists of a program whose records a test is going to change: parsed, since of a page that was decoded only its rows
// are left.

import type { ApiClient, ListedPage, ListOptions } from '../../src/api/client.ts';
import type { ListQuery } from '../../src/api/request-parameters.ts';
import type { ListedResource } from '../../src/contract/resources.ts';

/** Returns what lists pages with every record parsed, as JSON.parse reads it, whatever is to decode them. */
export function listParsed(api: Pick<ApiClient, 'list'>) {
  return <R extends ListedResource>(
    resource: R,
    query: ListQuery<R>,
    { decode: _, ...options }: ListOptions<unknown> = {},
  ): Promise<ListedPage> => api.list(resource, query, options);
}
