// Judges a walk by what it saw, as crawl.ts says.

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
