// The head: the newest records of a list, read from page 1 until one is met that was seen before.

import type { Loader } from './loader.ts';
import type { Checkpoint, CrawlDeps, Loaded, Page } from './page.ts';
import { EMPTY_TALLY, isMisplaced, tallyAnswer, whyEnd } from './tally.ts';

export interface HeadOutcome {
  readonly total: number;
  readonly loaded: Loaded;
  /** How many of its records were never seen before: created since the first page of the walk was answered. */
  readonly created: number;
  /** Why it came to no end, where records that were never seen before came page after page; else null. */
  readonly why: string | null;
}

/**
 * Returns the total and what was loaded, after every page up to the first that held a record seen before.
 * Each page is loaded before the next is asked for, since only the load knows what was seen. A page that was not the
 * one asked for says nothing, and is asked for again.
 *
 * Throws: what listing or loading throws; the signal's reason when aborted.
 */
export async function readHead<P extends Page>(
  deps: { listPage: CrawlDeps<P>['listPage']; loader: Loader<P> },
  checkpoint: Checkpoint,
  options: { limit: number; signal?: AbortSignal | undefined },
): Promise<HeadOutcome> {
  const { limit } = options;
  let tally = EMPTY_TALLY;
  let number = 1;
  let created = 0;
  for (;;) {
    const window = { page: number, limit };
    const page = await deps.listPage(window, options.signal);
    tally = tallyAnswer(tally, window, page);
    await deps.loader.drain();
    await deps.loader.push(page, checkpoint);
    const loaded = await deps.loader.drain();
    if (loaded === null) throw new TypeError('a page was pushed, yet nothing was loaded');
    created += loaded.fresh;
    if (!isMisplaced(window, page)) {
      const known = new Set(page.ids.filter((id) => id !== null)).size;
      if (loaded.fresh < known || page.isLast || page.ids.length === 0) {
        return { total: page.total, loaded, created, why: null };
      }
      number += 1;
    }
    const why = whyEnd(tally, limit, window, page);
    if (why !== null) return { total: page.total, loaded, created, why };
  }
}
