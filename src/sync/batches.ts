// A bounded buffer between reading and loading: pages are read while earlier ones are loaded, and pages that arrive
// fast go into one batch. It keeps their order, and holds at most two batches: one being loaded, one being gathered.

import type { Checkpoint, Loaded } from '../crawl/page.ts';

/**
 * Enough to make a set-based load worth it, few enough to hold in memory and to lose. Measured on 100,000 referrals:
 * taken as they came, six pages made a batch, and half of its 17 ms were round trips; gathered by 20, a sync took 2.9 s
 * instead of 3.4. By 40, Postgres needs a tenth less CPU time than by 20 (2.30 s instead of 2.56; of a first load 1.97
 * instead of 2.31). Two or four pages in flight made no difference, and asking for the next page before this one is
 * parsed made 3 %: on two cores the work itself takes the time.
 */
const BATCH_PAGES = 40;
/**
 * How long a batch is gathered; a killed run reads at most this much again. Measured on 110 pages that took 150 ms
 * each: as batches of their own (50 ms) 784 statements and 490 to 590 ms of Postgres' CPU time; in batches of a second
 * 304 and 340 to 360; of two seconds 249 and 260 to 280.
 */
const GATHER_MS = 1000;

export interface Batches<P> {
  /** Accepts a page, waiting while a whole batch waits. Throws: what loading an earlier page threw. */
  push(page: P, checkpoint: Checkpoint): Promise<void>;
  /** Returns what `load` returned for the last batch, once everything accepted is loaded; null before the first. */
  drain(): Promise<Loaded | null>;
}

/** Commits the pages together with the checkpoint. */
export type LoadPages<P> = (pages: readonly P[], checkpoint: Checkpoint) => Promise<Loaded>;

/** Returns the buffer before `load`. After a failed load nothing more is loaded, and every call throws its error. */
export function makeBatches<P>({ load }: { load: LoadPages<P> }): Batches<P> {
  let waiting: P[] = [];
  let checkpoint: Checkpoint | null = null;
  let loaded: Loaded | null = null;
  let running: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;
  /** Ends the gathering of the batch. */
  let enough = Promise.withResolvers<void>();
  /** Resolves when the batch being gathered is taken, and there is room for the next. */
  let taken = Promise.withResolvers<void>();

  async function loadAllWaiting(): Promise<void> {
    while (waiting.length > 0 && checkpoint !== null) {
      const timer = setTimeout(enough.resolve, GATHER_MS);
      await enough.promise;
      clearTimeout(timer);
      enough = Promise.withResolvers();
      const batch = waiting;
      waiting = [];
      taken.resolve();
      taken = Promise.withResolvers();
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
        taken.resolve();
        // A page may have come after the last check and before this.
        if (waiting.length > 0 && failure === null) start();
      });
  }

  return {
    async push(page, after) {
      while (waiting.length >= BATCH_PAGES && failure === null) await taken.promise;
      if (failure !== null) throw failure.error;
      waiting.push(page);
      checkpoint = after;
      if (waiting.length >= BATCH_PAGES) enough.resolve();
      start();
    },
    async drain() {
      while (running !== null) {
        enough.resolve();
        await running;
      }
      if (failure !== null) throw failure.error;
      return loaded;
    },
  };
}
