// Counts a walk's answers and checks whether they contradict each other: this is why every walk ends.
//
// An API that is asked repeatedly for the same list can contradict itself in two ways. It answers another page than the
// one that was asked for: then the positions of its records are unknown, and no walk can go on. Or its total swings,
// for example if two replicas answer alternately and one of them lags: more records vanish, by the totals, than the
// list ever held. The prefix walk relies on the totals, and would go back again and again; the overlap walk does not,
// and reads the list all the same, but there is no total left to verify it by.
// Everything else ends at the cap. It counts from the total that was answered first, so that a total which grows with
// every answer does not raise it, and is part of the checkpoint, so that a resumed walk counts on.

import type { Page, PageRequest, Tally } from './page.ts';

/** A walk may send so many times the requests that a still list of its length takes. */
const CAP_FACTOR = 10;
/** A short list that moves may take more: with 45 requests in 30 seconds, a minute's worth. */
const LEAST_CAP = 100;
/** So many wrong pages in a row are no accident. */
const MOST_MISPLACED = 3;
/** Fewer falls may be deletions: in a short list, a few can exceed its length if new records replace the old. */
const LEAST_FALLS = 10;

/** Why a walk gave up. */
export const OUTRUN = 'the list changed faster than it could be read';

export const EMPTY_TALLY: Tally = {
  answers: 0,
  firstTotal: null,
  total: null,
  falls: 0,
  fallen: 0,
  moved: false,
  misplaced: 0,
  lacksId: false,
};

/** Returns the tally with one more answer. */
export function tallyAnswer(before: Tally, request: PageRequest, page: Page): Tally {
  const fall = fallSince(before, page);
  return {
    answers: before.answers + 1,
    firstTotal: before.firstTotal ?? page.total,
    total: page.total,
    falls: before.falls + (fall > 0 ? 1 : 0),
    fallen: before.fallen + fall,
    moved: before.moved || (before.total !== null && before.total !== page.total),
    misplaced: isMisplaced(request, page) ? before.misplaced + 1 : 0,
    lacksId: before.lacksId || page.ids.includes(null),
  };
}

/** Returns by how many records the total fell since the answer before. */
export function fallSince(before: Tally, page: Page): number {
  return Math.max(0, (before.total ?? 0) - page.total);
}

/**
 * Returns whether the page is another than the one that was asked for. A smaller limit does not make it another: the
 * API may serve fewer. Nor does a last page, if the one asked for lies beyond it.
 */
export function isMisplaced(request: PageRequest, page: Page): boolean {
  const wantedStart = (request.page - 1) * page.limit;
  if (page.limit > request.limit) return true;
  if (page.start === wantedStart) return false;
  return !(page.isLast && page.start < wantedStart && wantedStart >= page.total);
}

/** Returns how many requests the walk may send. */
export function requestCap({ firstTotal }: Tally, limit: number): number {
  return Math.max(LEAST_CAP, CAP_FACTOR * Math.ceil((firstTotal ?? 0) / limit));
}

/** Returns why no walk can go on after this answer; null if it can. */
export function whyEnd(tally: Tally, limit: number, request: PageRequest, page: Page): string | null {
  if (tally.misplaced >= MOST_MISPLACED) {
    const answered = `page ${page.start / page.limit + 1} of ${page.limit} records each`;
    const asked = `page ${request.page} of ${request.limit}`;
    return `the API contradicts itself: asked for ${asked}, it answered ${answered}, ${tally.misplaced} times in a row`;
  }
  if (tally.answers < requestCap(tally, limit)) return null;
  return (
    `reading the list took ${tally.answers} requests without coming to its end, ` +
    `where ${Math.max(1, Math.ceil((tally.firstTotal ?? 0) / limit))} are enough for ${tally.firstTotal} records`
  );
}

/**
 * Returns why the pages prove nothing, however the walk ended; null if they may. A record without an identifier may be
 * any of those that were read: the count would prove nothing.
 */
export function whyUnproven({ lacksId }: Tally): string | null {
  return lacksId
    ? 'the list has a record without a usable identifier, which may be any of its records'
    : null;
}

/** Returns why the totals cannot all be true of one list; null if they can. */
export function describeSwing({ firstTotal, total, falls, fallen }: Tally): string | null {
  const held = Math.max(firstTotal ?? 0, total ?? 0);
  if (falls < LEAST_FALLS || fallen <= held) return null;
  return (
    `the API contradicts itself: while the list was read its total fell ${falls} times, by ${fallen} records in ` +
    `all, and rose again, though it holds ${held}`
  );
}
