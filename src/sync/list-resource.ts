// Where the API meets the walk: a page of the list as positions and identities, with its records hung on.

import { setImmediate } from 'node:timers/promises';
import type { RequestEvent } from '../api/attempt-request.ts';
import type { ApiClient } from '../api/client.ts';
import type { Expansion, Filters, ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { CrawlDeps, Page } from '../crawl/page.ts';
import type { ObservedPage, ReadPages } from '../records/read-page.ts';
import { usableId } from '../records/read-record.ts';

export interface RecordPage extends Page {
  /** Gives back what its records make. They are read once, as soon as nothing else is to do. */
  readonly read: () => Promise<ReadPages>;
  readonly askedAt: Timestamp;
}

export interface ListDeps {
  readonly api: ApiClient;
  readonly onRequest: (event: RequestEvent) => void;
  readonly readPage: (page: ObservedPage) => ReadPages;
}

/** What a sync asks for with every record, so that one walk fills every table that it can. */
const EXPANSIONS: { readonly [R in ListedResource]: readonly Expansion<R>[] } = {
  affiliates: ['campaign', 'links', 'commission_stats'],
  referrals: ['affiliate'],
};

/**
 * Gives back the function by which a walk lists the resource, narrowed by the filters.
 *
 * Positions come from the page number and limit that were answered, not from those that were asked for.
 */
export function makeListPage<R extends ListedResource>(
  { api, onRequest, readPage }: ListDeps,
  resource: R,
  filters: Filters<R> = {},
): CrawlDeps<RecordPage>['listPage'] {
  return async (window, signal) => {
    const query = { ...window, filters, expand: EXPANSIONS[resource] };
    const { pagination, data, askedAt } = await api.list(resource, query, {
      onRequest,
      ...(signal && { signal }),
    });
    let unread = data;
    let reading: Promise<ReadPages> | null = null;
    return {
      start: (pagination.current_page - 1) * pagination.limit,
      limit: pagination.limit,
      total: pagination.total_count,
      isLast: pagination.next_page === null,
      ids: data.map(usableId),
      read: () => {
        // Later, so that the next page is asked for first, and is on its way meanwhile.
        reading ??= setImmediate().then(() => {
          const records = unread;
          // The page waits for its batch, and the records are many times what they make.
          unread = [];
          return readPage({ observedAt: askedAt, records });
        });
        return reading;
      },
      askedAt,
    };
  };
}
