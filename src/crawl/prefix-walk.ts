// The prefix walk: reads a newest-first list by offset pages, in order, with no extra request while the list is still.
//
// Why it misses no record that exists throughout. A record created during the walk enters at the head and pushes
// the others back: they are seen twice, which is harmless. A record deleted at a position already passed pulls the
// others forward: without care, one unread record slips into the part already read. The covered prefix P is how many
// leading positions are known to have been read. Between two responses let i records be created and d deleted before
// P: the unread list moves forward by d − i positions, and the total falls by at least d − i (deletions behind P
// make it fall further, never less). So P is first lowered by the fall of the total, which brings it back to or
// before the first unread record; then a page that starts at or before P raises P to the page's end. The next
// page request always starts at or before P, and the walk ends when a page that raises P is the last one.
// It assumes a stable order, and that new records come at the head (one inserted further back can hide a fall). If one
// of these fails, the count at the end shows it (see crawl.ts). One page is in flight at a time: answers that come
// in another order than the requests would break the argument, and saved 5 % at best.

import {
  ask,
  furthestRequest,
  limitAfter,
  load,
  type Page,
  type PageRequest,
  type PrefixCheckpoint,
  settle,
  type Walk,
} from './page.ts';
import { describeSwing, EMPTY_TALLY, fallSince, isMisplaced, OUTRUN, tallyAnswer, whyEnd } from './tally.ts';

/** So many answers in a row without progress mean that records vanish faster than they can be read. */
const MAXIMUM_STALLS = 20;

/**
 * `complete`: the walk came to the list's end, or as far as is enough. `outrun`: it gave up, since records vanished
 * faster than pages came. `misled`: the totals, on which it relies, swing. `ended`: no walk can go on (see tally.ts).
 */
export type PrefixOutcome = { readonly checkpoint: PrefixCheckpoint } & (
  | { readonly how: 'complete' }
  | { readonly how: 'outrun' | 'misled' | 'ended'; readonly why: string }
);

/**
 * Returns how the walk ended. With `untilEnough` each page is loaded before the next is asked for, and the walk also
 * ends if the load says that this is enough.
 */
export function* walkPrefix(
  from: PrefixCheckpoint,
  { untilEnough = false }: { untilEnough?: boolean } = {},
): Walk<PrefixOutcome> {
  let state = from;
  // While records vanish, pages start this much before the prefix's end, so that the next fall does not outrun them.
  let margin = 0;
  let stalls = 0;
  while (stalls < MAXIMUM_STALLS) {
    const request = furthestRequest(Math.max(0, state.covered - margin), state.limit);
    const page = yield* ask(request);
    const { after, fall, covers } = coverPage(state, request, page);
    stalls = after.covered > state.covered ? 0 : stalls + 1;
    const wanted = fall > 0 ? Math.max(fall, margin * (covers ? 1 : 2)) : Math.floor(margin / 2);
    state = after;
    margin = Math.min(state.limit - 1, wanted);
    yield* load(state);
    if (untilEnough) {
      const { isEnough } = yield* settle();
      if (covers && isEnough === true) return { how: 'complete', checkpoint: state };
    }
    const outcome = outcomeAfter(state, request, page, covers);
    if (outcome !== null) return outcome;
  }
  return { how: 'outrun', why: OUTRUN, checkpoint: state };
}

/**
 * Returns the checkpoint after one more answer, by how much the total fell, and whether the page joins on to the
 * covered prefix.
 */
function coverPage(
  before: PrefixCheckpoint,
  request: PageRequest,
  page: Page,
): { after: PrefixCheckpoint; fall: number; covers: boolean } {
  const fall = fallSince(before.tally, page);
  const tally = tallyAnswer(before.tally, request, page);
  const left = Math.max(0, before.covered - fall);
  const isTrusted = !isMisplaced(request, page);
  const covers = isTrusted && page.start <= left;
  const covered = covers ? Math.max(left, page.start + page.limit) : left;
  const limit = isTrusted ? limitAfter(before.limit, request, page) : before.limit;
  return { after: { walk: 'prefix', covered, limit, tally }, fall, covers };
}

/** Returns how the walk ends with this page; null if it goes on. */
function outcomeAfter(
  checkpoint: PrefixCheckpoint,
  request: PageRequest,
  page: Page,
  covers: boolean,
): PrefixOutcome | null {
  if (covers && (page.isLast || page.ids.length === 0)) return { how: 'complete', checkpoint };
  const { tally, limit } = checkpoint;
  const why = whyEnd(tally, limit, request, page);
  if (why !== null) return { how: 'ended', why, checkpoint };
  const swing = describeSwing(tally);
  return swing === null ? null : { how: 'misled', why: swing, checkpoint };
}

/** Returns the checkpoint from which a walk of the whole list starts. */
export function prefixStart(limit: number): PrefixCheckpoint {
  return { walk: 'prefix', covered: 0, limit, tally: EMPTY_TALLY };
}
