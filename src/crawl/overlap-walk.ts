// The overlap walk: exact even if records are created, deleted or back-dated meanwhile, for about 14 % more requests.
//
// Why it misses no record that exists throughout. Call covered the records read so far without a gap from the head.
// Every page starts at least one record before the end of the covered records. If its first record is a covered one,
// everything between that record and the page's end is on the page itself: the page joins on, and its records are
// covered too. If its first record is not a covered one, records vanished and pulled the list forward past the
// overlap: there may be a gap, so the next page starts further back, until one joins on (the first page always does).
// Records read beyond a gap are loaded, but nothing joins on to them until it is closed. The only assumption is that
// the order of two records does not flip.
// If every page size divides a position, no page lies across it, and the walk ends there. With pages of up to 100
// records the first such position is beyond any list; with pages of up to 7, position 420 is one.

import { ask, furthestRequest, limitAfter, load, type OverlapCheckpoint, type Walk } from './page.ts';
import { EMPTY_TALLY, isMisplaced, tallyAnswer, whyEnd } from './tally.ts';

/**
 * How many covered identifiers are remembered: more than this many records created between two answers only
 * cost extra steps back. Bounded, so that memory does not grow with the list.
 */
const MAXIMUM_ANCHORS = 10_000;

/** So many pages in a row without progress mean that the list changes faster than it can be read. */
const MAXIMUM_STALLS = 100;

/**
 * `complete`: the walk came to the list's end. `outrun`: it gave up, since the list changed faster than it could be
 * read. `ended`: no walk can go on (see tally.ts).
 */
export type OverlapOutcome = { readonly checkpoint: OverlapCheckpoint } & (
  | { readonly how: 'complete' | 'outrun' }
  | { readonly how: 'ended'; readonly why: string }
);

/** Returns how the walk ended. */
export function* walkOverlap(from: OverlapCheckpoint): Walk<OverlapOutcome> {
  let { end, limit, tally } = from;
  let anchors = new Set(from.anchors);
  let stepBack = 1;
  let stalls = 0;
  let checkpoint = from;
  while (stalls < MAXIMUM_STALLS) {
    const request = furthestRequest(Math.max(0, end - stepBack), limit);
    if (stepBack === 1 && end > 0 && request.page * request.limit <= end) {
      return { how: 'ended', why: describeTooSmall(limit, end), checkpoint };
    }
    const page = yield* ask(request);
    tally = tallyAnswer(tally, request, page);
    const isTrusted = !isMisplaced(request, page);
    if (isTrusted) limit = limitAfter(limit, request, page);
    const first = page.ids[0] ?? null;
    // The first page joins on to the head itself. An empty page joins on nowhere: the list ended before it.
    const joins = isTrusted && (page.start === 0 || (first !== null && anchors.has(first)));
    if (joins) {
      const before = anchors.size;
      for (const id of page.ids) if (id !== null) anchors.add(id);
      // A page that adds nothing repeats covered records (many were created meanwhile); its end still counts.
      stalls = anchors.size > before || page.start + page.ids.length > end ? 0 : stalls + 1;
      end = page.start + (page.isLast ? page.ids.length : page.limit);
      stepBack = 1;
      if (anchors.size > MAXIMUM_ANCHORS) anchors = new Set([...anchors].slice(-MAXIMUM_ANCHORS / 2));
    } else {
      stepBack = Math.min(stepBack * 2, end);
      stalls += 1;
    }
    // One page of anchors is enough to join on again after a kill; fewer only cost steps back.
    checkpoint = {
      walk: 'overlap',
      end,
      limit,
      anchors: [...anchors].slice(-limit),
      tally,
      doubt: from.doubt,
    };
    yield* load(checkpoint);
    if (joins && (page.isLast || page.ids.length === 0)) return { how: 'complete', checkpoint };
    const why = whyEnd(tally, limit, request, page);
    if (why !== null) return { how: 'ended', why, checkpoint };
  }
  return { how: 'outrun', checkpoint };
}

function describeTooSmall(limit: number, position: number): string {
  return `the API serves at most ${limit} records to a page, and no page of that size or less has both records ${position} and ${position + 1}`;
}

/**
 * Returns the checkpoint from which a walk of the whole list starts. `doubt` says why it will prove nothing, if the
 * walk before it found such a reason.
 */
export function overlapStart(limit: number, doubt: string | null = null): OverlapCheckpoint {
  return { walk: 'overlap', end: 0, limit, anchors: [], tally: EMPTY_TALLY, doubt };
}
