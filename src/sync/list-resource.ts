// Lists pages of the API as a walk wants them: positions and identifiers, and what the records make. A page is read as
// soon as it is there, and its records are let go of: they take many times the memory of their rows.

import type { ApiClient } from '../api/client.ts';
import type { RecordReader } from '../api/list-bytes.ts';
import type { RequestEvent } from '../api/request-event.ts';
import { positionOf } from '../contract/answer-bodies.ts';
import { type Expansion, type Filters, type ListedResource, RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { CrawlDeps, Page } from '../crawl/page.ts';
import type { ObservedPage, ReadPages } from '../records/read-page.ts';
import { usableId } from '../records/read-record.ts';
import { inSpan } from '../tracing/span.ts';

export interface RecordPage extends Page {
  /** What its records make. */
  readonly content: ReadPages;
  readonly askedAt: Timestamp;
  /** Of the step that read it, for the trace. */
  readonly reference: string | null;
}

interface ListDeps {
  readonly api: ApiClient;
  readonly onRequest: (event: RequestEvent) => void;
  readonly readPage: (page: ObservedPage) => ReadPages;
  readonly recordReader: RecordReader;
}

/**
 * Returns the function by which a walk lists the resource, narrowed by the filters. `look` is called with the records
 * of each page before they are read, and may throw.
 */
export function makeListPage<R extends ListedResource>(
  { api, onRequest, readPage, recordReader }: ListDeps,
  resource: R,
  filters: Filters<R> = {},
  look: ((records: readonly unknown[]) => void) | null = null,
): CrawlDeps<RecordPage>['listPage'] {
  return (request, signal) =>
    inSpan(
      'page',
      { attributes: { resource, page: request.page, limit: request.limit } },
      async (span): Promise<RecordPage> => {
        // Everything, so that one walk fills every table that it can.
        const expand: readonly Expansion<R>[] = RESOURCES[resource].expansions;
        const query = { ...request, filters, expand };
        const { pagination, data, askedAt, ageMs } = await api.list(resource, query, {
          onRequest,
          takesStored: true,
          // Whoever looks at records wants them parsed.
          ...(look === null && { recordReader }),
          ...(signal && { signal }),
        });
        look?.(data);
        span.set({ rows: data.length });
        return {
          ...positionOf(pagination),
          ids: data.map(usableId),
          content: readPage({ observedAt: askedAt, records: data }),
          askedAt,
          ageMs,
          reference: span.reference,
        };
      },
    );
}
