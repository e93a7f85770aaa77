// The types of a walk (page request, page, checkpoint, tally), and the choice of the next page on an API whose offsets
// are multiples of the page size.
//
// A walk is a generator that does no I/O: it yields its next step, and receives the result. It sees positions and
// identifiers only. A sync does the steps in src/sync/read-list.ts, the library in src/client/read-list.ts.

/** The list is served in pages of `limit` records; the first page is 1. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** An answer without its records. */
export interface Page {
  /** Position of the page's first record in the list, from 0, by the page number and limit that were answered. */
  readonly start: number;
  /** The limit that was answered; the API may serve fewer than were asked for. */
  readonly limit: number;
  /** Records in the whole list when the page was answered, by the API's count. */
  readonly total: number;
  /** The API names no next page. */
  readonly isLast: boolean;
  /** The records' identifiers in their order; null if a record has no usable one. */
  readonly ids: readonly (string | null)[];
}

/** The next step of a walk: ask for a page, load the last one, or wait until all pages so far are loaded. */
export type Step =
  | { readonly kind: 'ask'; readonly request: PageRequest }
  | { readonly kind: 'load'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'settle' };

/** A walk that ends with T. It receives the page that it asked for, and at `settle` what was loaded; else null. */
export type Walk<T> = Generator<Step, T, Page | Loaded | null>;

/** The result of a load that committed the pages' records, their seen ids and the checkpoint together. */
export interface Loaded {
  /** Distinct records seen in this run so far, these pages included. */
  readonly distinct: number;
  /** How many identifiers of these pages this run had not seen before. */
  readonly fresh: number;
  /** Whether a walk that reads until it is enough may end here; left out: it may not. */
  readonly isEnough?: boolean;
}

/** Before the first page. */
export const NOTHING_LOADED: Loaded = { distinct: 0, fresh: 0 };

/** Returns the page. One is asked for at a time; all are loaded, in that order. */
export function* ask(request: PageRequest): Walk<Page> {
  return (yield { kind: 'ask', request }) as Page;
}

/** Loads the page that was answered last, soon; a killed run then goes on from the checkpoint. */
export function* load(checkpoint: Checkpoint): Walk<void> {
  yield { kind: 'load', checkpoint };
}

/** Waits until every page is loaded, and returns the result of the last load. */
export function* settle(): Walk<Loaded> {
  return (yield { kind: 'settle' }) as Loaded;
}

/** A killed run goes on from here. Plain JSON, stored in the transaction that stores the pages before it. */
export type Checkpoint = PrefixCheckpoint | OverlapCheckpoint;

export interface PrefixCheckpoint {
  readonly walk: 'prefix';
  /** The covered prefix: how many leading positions of the list are known to have been read. */
  readonly covered: number;
  readonly limit: number;
  readonly tally: Tally;
}

export interface OverlapCheckpoint {
  readonly walk: 'overlap';
  readonly end: number;
  readonly limit: number;
  /** The last covered identifiers, newest first: the next page must join on to one of them. */
  readonly anchors: readonly string[];
  readonly tally: Tally;
  /** Why this walk proves nothing even if it ends, as the walk before it found; usually null. */
  readonly doubt: string | null;
}

/** The sum of a walk's answers so far; see tally.ts. */
export interface Tally {
  readonly answers: number;
  /** The total as first answered, and as last; null before the first answer. */
  readonly firstTotal: number | null;
  readonly total: number | null;
  /** How often the total fell, and by how many records in all. */
  readonly falls: number;
  readonly fallen: number;
  /** Whether the total ever differed from the answer before. */
  readonly moved: boolean;
  /** How many of the last answers in a row were another page than the one that was asked for. */
  readonly misplaced: number;
  /** Whether a record had no identifier that can be used. */
  readonly lacksId: boolean;
}

/**
 * Returns the request for the page that starts at or before position `latestStart` and reaches furthest, with a limit
 * of at most `maximumLimit`; of equals, the one with the largest limit, which repeats least.
 *
 * At a multiple of `maximumLimit` that is simply the page that starts there. Elsewhere a smaller limit often
 * starts closer: joining on at every position this way costs about 14 % more requests than plain pages.
 */
export function furthestRequest(latestStart: number, maximumLimit: number): PageRequest {
  let best: PageRequest = { page: Math.floor(latestStart / maximumLimit) + 1, limit: maximumLimit };
  for (let limit = maximumLimit - 1; limit > 0; limit -= 1) {
    const page = Math.floor(latestStart / limit) + 1;
    if (page * limit > best.page * best.limit) best = { page, limit };
  }
  return best;
}

/** Returns the limit to ask for from now on: an API that served fewer than asked for serves no more next time. */
export function limitAfter(limit: number, request: PageRequest, page: Page): number {
  return page.limit < request.limit ? Math.min(limit, page.limit) : limit;
}
