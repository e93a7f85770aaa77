// What the walks share: a page request, a page, a checkpoint, the tally, and which page to ask for next on an API whose
// offsets are multiples of the page size. No SQL, no HTTP, no fields.

/** Which page is asked for: the list is served in pages of `limit` records, the first page being 1. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** What was answered. The caller may add the records themselves to it: the walk passes pages on unchanged. */
export interface Page {
  /** Position of the page's first record in the list, from 0, by the page number and limit that were answered. */
  readonly start: number;
  /** The limit that was answered; the program may serve fewer than were asked for. */
  readonly limit: number;
  /** Records in the whole list when the page was answered, as the program states it. */
  readonly total: number;
  /** The program names no next page. */
  readonly isLast: boolean;
  /** The records' identifiers in their order; null where a record has none that can be used. */
  readonly ids: readonly (string | null)[];
  /** By how many milliseconds the page is older than its question; left out: it is not. */
  readonly ageMs?: number;
}

/** What a load returns, once the pages' records, their seen ids and the checkpoint are committed together. */
export interface Loaded {
  /** Distinct records seen in this run so far, these pages included. */
  readonly distinct: number;
  /** How many identifiers of these pages this run had not seen before. */
  readonly fresh: number;
}

export interface CrawlDeps<P extends Page> {
  /** One call at a time. Unless the crawl ends in an error, every page is loaded, in the order of the calls. */
  readonly listPage: (request: PageRequest, signal: AbortSignal | undefined) => Promise<P>;
  readonly load: (pages: readonly P[], checkpoint: Checkpoint) => Promise<Loaded>;
}

/** From where a killed run goes on; plain JSON, stored in the transaction that stores the pages before it. */
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
  /** Why this walk proves nothing even where it ends, as the walk before it found; usually null. */
  readonly doubt: string | null;
}

/** What the answers of a walk have said so far; see tally.ts. */
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
  /** By how many milliseconds a page was older than its question, at most. */
  readonly oldestMs: number;
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

/** Returns the limit to ask for from now on: a program that served fewer than asked for serves no more next time. */
export function limitAfter(limit: number, request: PageRequest, page: Page): number {
  return page.limit < request.limit ? Math.min(limit, page.limit) : limit;
}
