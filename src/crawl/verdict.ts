// Judges a walk by what it saw, as crawl.ts says.

import type { CrawlDeps, Page, Tally } from './page.ts';

export interface WalkVerdict {
  readonly verified: boolean;
  /** Why it is not verified; null where it is. */
  readonly reason: string | null;
  /** The walk whose answers decided. */
  readonly walk: 'prefix' | 'overlap';
  readonly distinct: number;
  readonly total: number;
}

/** What was known when a walk, and the head after it, had ended. */
export interface End {
  readonly distinct: number;
  readonly anonymous: number;
  readonly total: number;
  /** Records that the head had and no page before it. */
  readonly created: number;
  /** Why the head came to no end; null where it did, or was not read. */
  readonly why: string | null;
}

/** Returns the verdict; `doubt` is why the walk proves nothing, null where it may. */
export function judge(
  walk: WalkVerdict['walk'],
  { distinct, total }: End,
  doubt: string | null,
): WalkVerdict {
  const tooFew = `${distinct} different records were seen, where the program says that it has ${total}`;
  const reason = doubt ?? (distinct < total ? tooFew : null);
  return { verified: reason === null, reason, walk, distinct, total };
}

/** Returns what is wrong with the total of a list that stood still, where it is less than what was seen; else null. */
export function describeSmallTotal({ distinct, total }: End): string | null {
  if (distinct <= total) return null;
  return `the program contradicts itself: ${distinct} different records were seen, where it says that it has ${total}, and the list stood still`;
}

/**
 * Returns whether nothing can have vanished: the total never fell, and rose by all that came at the head. Where it rose
 * by less, something was deleted as well.
 */
export function hasNothingVanished({ falls, firstTotal }: Tally, { created, total }: End): boolean {
  return falls === 0 && created <= total - (firstTotal ?? 0);
}

/** What the pages of a walk held. */
export interface Read {
  records: number;
  /** Those of them without an identifier that can be used. */
  anonymous: number;
}

/** Returns the listing, and what its pages hold, counted as they come. */
export function countRecords<P extends Page>(
  listPage: CrawlDeps<P>['listPage'],
): {
  readonly listPage: CrawlDeps<P>['listPage'];
  readonly read: Readonly<Read>;
} {
  const read: Read = { records: 0, anonymous: 0 };
  return {
    read,
    async listPage(request, signal) {
      const page = await listPage(request, signal);
      read.records += page.ids.length;
      read.anonymous += page.ids.filter((id) => id === null).length;
      return page;
    },
  };
}

/**
 * Returns the verdict where too few were seen because records without an identifier count once where they are the same,
 * and where that alone explains it; null where it does not.
 */
export function judgeAlike(
  verdict: WalkVerdict,
  { distinct, anonymous, total }: End,
  read: Readonly<Read>,
  { stoodStill }: { stoodStill: boolean },
): WalkVerdict | null {
  // Whether there would be enough if none without an identifier were the same as another.
  const isExplained = distinct - anonymous + read.anonymous >= total;
  if (!isExplained) return null;
  const isReadOnce = stoodStill && read.records === total;
  return isReadOnce ? { ...verdict, verified: true, reason: null } : { ...verdict, reason: ALIKE };
}

const ALIKE =
  'records without an identifier are the same as others, and while the list moves nobody can say how many there are';
