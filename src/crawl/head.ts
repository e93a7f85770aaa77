// The head: the newest records of a list, read from page 1 until one is met that was seen before.

import type { Loader } from './loader.ts';
import type { Checkpoint, CrawlDeps, Loaded, Page } from './page.ts';

export interface HeadOutcome {
  readonly total: number;
  readonly loaded: Loaded;
}

/**
 * Gives back the total and what was loaded, after every page up to the first that held a record seen before.
 * Each page is loaded before the next is asked for, since only the load knows what was seen.
 *
 * Throws: what listing or loading throws; the signal's reason when aborted.
 */
export async function readHead<P extends Page>(
  deps: { listPage: CrawlDeps<P>['listPage']; loader: Loader<P> },
  checkpoint: Checkpoint,
  options: { limit: number; signal?: AbortSignal | undefined },
): Promise<HeadOutcome> {
  for (let number = 1; ; number += 1) {
    const page = await deps.listPage({ page: number, limit: options.limit }, options.signal);
    await deps.loader.drain();
    await deps.loader.push(page, checkpoint);
    const loaded = await deps.loader.drain();
    if (loaded === null) throw new TypeError('a page was pushed, yet nothing was loaded');
    const known = new Set(page.ids.filter((id) => id !== null)).size;
    if (loaded.fresh < known || page.isLast || page.ids.length === 0) return { total: page.total, loaded };
  }
}
