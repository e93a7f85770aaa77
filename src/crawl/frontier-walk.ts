// The frontier walk: reads a newest-first list by offset pages, in order, and costs nothing while the list is still.
//
// Why it misses no record that lives through it. A record created during the walk enters at the head and pushes
// the others back: they are seen twice, which is harmless. A record deleted at a position already passed pulls the
// others forward: without care, one unread record slips into the part already read. The frontier F is how many
// leading positions are known to be covered. Between two responses let i records be created and d deleted before
// F: the unread list moves forward by d − i positions, and the total falls by at least d − i (deletions behind F
// make it fall further, never less). So F is first lowered by the fall of the total, which brings it back to or
// before the first unread record; then a page that starts at or before F raises F to the page's end. The next
// window is always one that starts at or before F, and the walk ends when a covering page is the last one.
// It assumes a stable order, that new records come at the head (one inserted further back can hide a fall) and
// answers in the order of the requests. Where one of these fails, the count at the end tells (see crawl.ts).

import type { Loader } from './loader.ts';
import type { CrawlDeps, FrontierCheckpoint, Page, Window } from './page.ts';
import {
  describeSwing,
  EMPTY_TALLY,
  fallSince,
  isMisplaced,
  requestCap,
  tallyAnswer,
  whyEnd,
} from './tally.ts';
import { furthestWindow, limitAfter } from './window.ts';

/** So many answers in a row without progress mean that records vanish faster than they can be read. */
const MAXIMUM_STALLS = 20;

/**
 * `complete`: the walk came to the list's end. `outrun`: it gave up, since records vanished faster than pages came.
 * `misled`: the totals, which lead it, swing. `ended`: no walk can go on (see tally.ts).
 */
export type FrontierOutcome = { readonly checkpoint: FrontierCheckpoint } & (
  | { readonly how: 'complete' | 'outrun' }
  | { readonly how: 'misled' | 'ended'; readonly why: string }
);

/**
 * Gives back how the walk ended; every page read has been pushed to the loader.
 *
 * With `concurrency` above 1 several pages are asked for at once. Their answers come in no order, so the argument
 * above falls: the caller must then not trust a walk during which the total fell.
 *
 * Throws: what listing or loading throws; the signal's reason when aborted.
 */
export async function walkFrontier<P extends Page>(
  deps: { listPage: CrawlDeps<P>['listPage']; loader: Loader<P> },
  from: FrontierCheckpoint,
  options: { concurrency: number; signal?: AbortSignal | undefined },
): Promise<FrontierOutcome> {
  let state = from;
  // While records vanish, windows start this much before the frontier, so that the next fall does not outrun them.
  let margin = 0;
  let stalls = 0;
  while (stalls < MAXIMUM_STALLS) {
    const left = requestCap(state.tally, state.limit) - state.tally.answers;
    const windows = nextWindows(state, margin, Math.min(options.concurrency, left));
    const answers = await Promise.all(
      windows.map(async (window) => ({ window, page: await deps.listPage(window, options.signal) })),
    );
    for (const { window, page } of answers) {
      const fall = fallSince(state.tally, page);
      const tally = tallyAnswer(state.tally, window, page);
      const frontier = Math.max(0, state.frontier - fall);
      const isTrusted = !isMisplaced(window, page);
      const covers = isTrusted && page.start <= frontier;
      const reached = covers ? Math.max(frontier, page.start + page.limit) : frontier;
      stalls = reached > state.frontier ? 0 : stalls + 1;
      const wanted = fall > 0 ? Math.max(fall, margin * (covers ? 1 : 2)) : Math.floor(margin / 2);
      const limit = isTrusted ? limitAfter(state.limit, window, page) : state.limit;
      state = { walk: 'frontier', frontier: reached, limit, tally };
      margin = Math.min(state.limit - 1, wanted);
      await deps.loader.push(page, state);
      if (covers && (page.isLast || page.ids.length === 0)) return { how: 'complete', checkpoint: state };
      const why = whyEnd(tally, limit, window, page);
      if (why !== null) return { how: 'ended', why, checkpoint: state };
      const swing = describeSwing(tally);
      if (swing !== null) return { how: 'misled', why: swing, checkpoint: state };
    }
  }
  return { how: 'outrun', checkpoint: state };
}

/** Gives back the checkpoint from which a walk of the whole list starts. */
export function frontierStart(limit: number): FrontierCheckpoint {
  return { walk: 'frontier', frontier: 0, limit, tally: EMPTY_TALLY };
}

function nextWindows(state: FrontierCheckpoint, margin: number, concurrency: number): Window[] {
  const first = furthestWindow(Math.max(0, state.frontier - margin), state.limit);
  const windows = [first];
  for (let page = first.page + 1; windows.length < concurrency; page += 1) {
    if ((page - 1) * first.limit >= (state.tally.total ?? 0)) break;
    windows.push({ page, limit: first.limit });
  }
  return windows;
}
