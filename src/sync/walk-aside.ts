// Reads a filtered list beside the run's own walk, and as exactly: with a verdict of its own.

import type { Filters, ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { crawl } from '../crawl/crawl.ts';
import { makeListPage, type RecordPage } from './list-resource.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, WalkInput } from './walk.ts';

export interface WalkedAside {
  /** Why it is not known that nothing was missed; null where it is. */
  readonly doubt: string | null;
  /** When the first request was granted its permit. */
  readonly beganAt: Timestamp | null;
}

/** Returns how the walk of the resource's list under these filters ended; everything that was met is loaded. */
export async function walkAside<R extends ListedResource>(
  { api }: Pick<SyncDeps, 'api'>,
  loader: RunLoader,
  { resource, filters }: { resource: R; filters: Filters<R> },
  { limit, signal }: Pick<WalkInput, 'limit' | 'signal'>,
): Promise<WalkedAside> {
  const listPage = makeListPage(
    { api, onRequest: loader.countRequest, readPage: loader.readPage },
    resource,
    filters,
  );
  // The run's own count of distinct records cannot judge a part of the list.
  const seen = new Set<string>();
  let beganAt: Timestamp | null = null;
  const { reason } = await crawl<RecordPage>(
    {
      async listPage(request, stop) {
        const page = await listPage(request, stop);
        beganAt ??= page.askedAt;
        return page;
      },
      accept: loader.accept,
      async load(pages) {
        await loader.loadAside(pages);
        const before = seen.size;
        for (const { ids, read } of pages) {
          for (const id of ids) if (id !== null) seen.add(id);
          // A record without a usable identifier exists all the same; its content tells it from others.
          for (const { id, payload } of (await read()).rejections)
            if (id === null) seen.add(JSON.stringify(payload));
        }
        return { distinct: seen.size, fresh: seen.size - before };
      },
    },
    { limit, concurrency: 1, resumeFrom: null, head: 'when-moved', signal },
  );
  return { doubt: reason, beganAt };
}
