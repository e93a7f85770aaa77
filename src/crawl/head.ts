// The head: the newest records of a list, read from page 1 until one was seen before.

import type { Loader } from './loader.ts';
import type { Checkpoint, CrawlDeps, Loaded, Page } from './page.ts';
import { EMPTY_TALLY, isMisplaced, tallyAnswer, whyEnd, whyUnproven } from './tally.ts';

export interface HeadOutcome {
  readonly total: number;
  readonly loaded: Loaded;
  /** How many of its records were never seen before: created since the first page of the walk was answered. */
  readonly created: number;
  /** Why it shows nothing, as where records that were never seen before came page after page; else null. */
  readonly why: string | null;
}

/**
 * Returns the total and what was loaded, after every page up to the first that held a record seen before.
 * Each page is loaded before the next is asked for, since only the load knows what was seen. Another page than the
 * one asked for shows nothing, and the right one is asked for again.
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
    const request = { page: number, limit };
    const page = await deps.listPage(request, options.signal);
    tally = tallyAnswer(tally, request, page);
    await deps.loader.drain();
    await deps.loader.push(page, checkpoint);
    const loaded = await deps.loader.drain();
    if (loaded === null) throw new TypeError('a page was pushed, but nothing was loaded');
    created += loaded.fresh;
    if (!isMisplaced(request, page)) {
      const known = new Set(page.ids.filter((id) => id !== null)).size;
      if (loaded.fresh < known || page.isLast || page.ids.length === 0) {
        return { total: page.total, loaded, created, why: whyUnproven(tally) };
      }
      number += 1;
    }
    const why = whyEnd(tally, limit, request, page);
    if (why !== null) return { total: page.total, loaded, created, why };
  }
}
