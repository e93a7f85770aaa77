// Turns a page of the API into what a walk needs: positions and identifiers, with a function that reads its records.

import { setImmediate } from 'node:timers/promises';
import type { ApiClient } from '../api/client.ts';
import type { RequestEvent } from '../api/request-event.ts';
import { positionOf } from '../contract/answer-bodies.ts';
import type { Expansion, Filters, ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { CrawlDeps, Page } from '../crawl/page.ts';
import type { ObservedPage, ReadPages } from '../records/read-page.ts';
import { usableId } from '../records/read-record.ts';
import { inSpan } from '../tracing/span.ts';

export interface RecordPage extends Page {
  /** Returns the rows that its records make. They are read once, as soon as nothing else is to do. */
  readonly read: () => Promise<ReadPages>;
  readonly askedAt: Timestamp;
  /** Of the step that read it, for the trace. */
  readonly reference: string | null;
}

interface ListDeps {
  readonly api: ApiClient;
  readonly onRequest: (event: RequestEvent) => void;
  readonly readPage: (page: ObservedPage) => ReadPages;
}

/** What a sync asks for with every record, so that one walk fills every table that it can. */
const EXPANSIONS: { readonly [R in ListedResource]: readonly Expansion<R>[] } = {
  affiliates: ['campaign', 'links', 'commission_stats'],
  referrals: ['affiliate'],
  commissions: ['sale', 'campaign'],
};

/**
 * Returns the function by which a walk lists the resource, narrowed by the filters. `look` is called with the records
 * of each page as soon as it is answered, and may throw.
 */
export function makeListPage<R extends ListedResource>(
  { api, onRequest, readPage }: ListDeps,
  resource: R,
  filters: Filters<R> = {},
  look: (records: readonly unknown[]) => void = () => {},
): CrawlDeps<RecordPage>['listPage'] {
  return (request, signal) =>
    inSpan('page', { attributes: { resource, page: request.page, limit: request.limit } }, async (span) => {
      const query = { ...request, filters, expand: EXPANSIONS[resource] };
      const { pagination, data, askedAt } = await api.list(resource, query, {
        onRequest,
        ...(signal && { signal }),
      });
      look(data);
      span.set({ rows: data.length });
      let unread = data;
      let reading: Promise<ReadPages> | null = null;
      return {
        ...positionOf(pagination),
        ids: data.map(usableId),
        read: () => {
          // Not at once: the next page is asked for first, and is on its way meanwhile.
          reading ??= setImmediate().then(() => {
            const records = unread;
            // The page waits in memory for its batch, and records take many times the memory of their rows.
            unread = [];
            return readPage({ observedAt: askedAt, records });
          });
          return reading;
        },
        askedAt,
        reference: span.reference,
      };
    });
}
