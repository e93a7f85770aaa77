// Reads a filtered list beside the run's own walk, and as exactly: with a verdict of its own.

import type { Filters, ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { crawl } from '../crawl/crawl.ts';
import type { RecordPage } from './list-resource.ts';
import type { RunLoader } from './run-loader.ts';
import type { WalkInput } from './walk.ts';

export interface WalkedAside {
  /** Why it is not known that nothing was missed; null where it is. */
  readonly doubt: string | null;
  /** When the first request was granted its permit. */
  readonly beganAt: Timestamp | null;
  /** Pages that were asked for. */
  readonly pages: number;
}

/**
 * Returns how the walk of the resource's list under these filters ended; everything that was met is loaded. `look` is
 * called with the records of each page before that.
 */
export async function walkAside<R extends ListedResource>(
  loader: RunLoader,
  { resource, filters }: { resource: R; filters: Filters<R> },
  {
    limit,
    signal,
    look,
  }: Pick<WalkInput, 'limit' | 'signal'> & { look?: (records: readonly unknown[]) => void },
): Promise<WalkedAside> {
  const listPage = loader.lister(resource, filters, look);
  // The run's own count of distinct records cannot judge a part of the list.
  const seen = new Set<string>();
  let beganAt: Timestamp | null = null;
  let asked = 0;
  const { reason } = await crawl<RecordPage>(
    {
      async listPage(request, stop) {
        asked += 1;
        const page = await listPage(request, stop);
        beganAt ??= page.askedAt;
        return page;
      },
      async load(pages) {
        await loader.loadAside(pages);
        const before = seen.size;
        for (const id of pages.flatMap(({ ids }) => ids)) if (id !== null) seen.add(id);
        return { distinct: seen.size, fresh: seen.size - before };
      },
    },
    { limit, resumeFrom: null, head: 'when-moved', signal },
  );
  return { doubt: reason, beganAt, pages: asked };
}
