// A bounded buffer between reading and loading: the next page is read while earlier ones are loaded, and pages that
// arrive faster than they are loaded go into one batch. Keeps order; holds at most `capacity` pages.

import type { Checkpoint, CrawlDeps, Loaded, Page } from './page.ts';

/**
 * Ten pages are a thousand records: enough for a set-based load to pay, little enough to hold in memory. Measured on
 * 100,000 referrals, two to six runs each beside other work: 5 pages 3.1 to 3.4 s, 10 pages 2.7 to 3.9 s, 20 pages 2.5
 * to 2.8 s, 40 pages 3.2 to 3.5 s and some 50 MB more. So 20 may be a little better; 10 was kept for the memory. Four
 * pages in flight: 2.6 to 3.1 s beside 2.6 to 2.8 s with one.
 */
const CAPACITY_PAGES = 10;

export interface Loader<P extends Page> {
  /** Accepts a page, waiting while the buffer is full. Throws: what loading an earlier page threw. */
  push(page: P, checkpoint: Checkpoint): Promise<void>;
  /** Gives back, once everything accepted is loaded, what the last batch gave back; null before the first. */
  drain(): Promise<Loaded | null>;
}

/** Gives back a loader. After a failed load nothing further is loaded, and every call throws its error. */
export function makeLoader<P extends Page>(
  load: CrawlDeps<P>['load'],
  capacity: number = CAPACITY_PAGES,
): Loader<P> {
  let waiting: P[] = [];
  let checkpoint: Checkpoint | null = null;
  let loaded: Loaded | null = null;
  let running: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;

  async function loadAllWaiting(): Promise<void> {
    while (waiting.length > 0 && checkpoint !== null) {
      const batch = waiting;
      waiting = [];
      loaded = await load(batch, checkpoint);
    }
  }

  function start(): void {
    running ??= loadAllWaiting()
      .catch((error: unknown) => {
        failure = { error };
      })
      .finally(() => {
        running = null;
      });
  }

  async function drain(): Promise<Loaded | null> {
    while (running !== null) await running;
    if (failure !== null) throw failure.error;
    return loaded;
  }

  return {
    async push(page, after) {
      while (waiting.length >= capacity && running !== null) await running;
      if (failure !== null) throw failure.error;
      waiting.push(page);
      checkpoint = after;
      start();
    },
    drain,
  };
}
