// Reads a whole list and says whether a record can be missing: a walk, the head of the list, and the verdict.
//
// The verdict: at least as many distinct records must have been seen as the final total says exist (records seen
// and then deleted make it more, never fewer). Fewer after a prefix walk: one overlap walk. Still fewer, or a walk
// that gave up: not verified. If the totals swing, the overlap walk reads the list, and is not verified: there is no
// total to compare it with. The same holds for a list that stood still and holds more than its total. If no walk can go
// on, the crawl ends (see tally.ts). A walk with a record without an identifier is read to its end, and is not
// verified.
// A verified crawl can still miss records of equal time whose order flips between two answers, records beyond a wrong
// total, and a record behind a back-dated insertion while another one, seen, vanished. The next crawl finds each of
// them; tools/measure-verdicts.ts measures how often this happens.

import { overlapStart, walkOverlap } from './overlap-walk.ts';
import {
  ask,
  type Checkpoint,
  load,
  type OverlapCheckpoint,
  type PrefixCheckpoint,
  settle,
  type Walk,
} from './page.ts';
import { prefixStart, walkPrefix } from './prefix-walk.ts';
import {
  describeSwing,
  EMPTY_TALLY,
  isMisplaced,
  OUTRUN,
  tallyAnswer,
  whyEnd,
  whyUnproven,
} from './tally.ts';

export interface CrawlOptions {
  /** Records per page to ask for. */
  readonly limit: number;
  /** Where a killed run stopped; null to start from the head, `overlapStart` for the overlap walk from there. */
  readonly resumeFrom: Checkpoint | null;
  /** `when-moved` saves the head's request if the total never changed during the walk. */
  readonly head: 'always' | 'when-moved';
}

export interface Verdict {
  readonly verified: boolean;
  /** Why it is not verified; null if it is. */
  readonly reason: string | null;
  /** The walk whose answers decided. */
  readonly walk: 'prefix' | 'overlap';
  readonly distinct: number;
  readonly total: number;
}

/** Walks the list and returns the verdict, once every page read is loaded. */
export function* crawl(options: CrawlOptions): Walk<Verdict> {
  const { resumeFrom } = options;
  if (resumeFrom?.walk === 'overlap') return yield* crawlByOverlap(resumeFrom);
  const first = yield* crawlByPrefix(resumeFrom, options);
  return 'verified' in first ? first : yield* crawlByOverlap(first);
}

/** Returns the verdict; if the prefix walk decides nothing, the start of the overlap walk. */
function* crawlByPrefix(
  resumeFrom: PrefixCheckpoint | null,
  { limit, head }: CrawlOptions,
): Walk<Verdict | OverlapCheckpoint> {
  const walk = yield* walkPrefix(resumeFrom === null ? prefixStart(limit) : onePageBack(resumeFrom));
  const { checkpoint } = walk;
  const { tally } = checkpoint;
  const why = walk.how === 'ended' ? walk.why : whyUnproven(tally);
  if (why !== null) return judge('prefix', yield* withoutHead(checkpoint), why);
  const swing = describeSwing(tally);
  if (walk.how !== 'complete' || swing !== null) return overlapStart(limit, swing);

  const isStill = !tally.moved && resumeFrom === null;
  const end = isStill && head === 'when-moved' ? yield* withoutHead(checkpoint) : yield* readHead(checkpoint);
  const stoodStill = isStill && end.created === 0 && end.total === tally.total;
  const doubt = end.why ?? (stoodStill ? describeSmallTotal(end) : null);
  const verdict = judge('prefix', end, doubt);
  return verdict.verified || doubt !== null ? verdict : overlapStart(limit, null);
}

function* crawlByOverlap(start: OverlapCheckpoint): Walk<Verdict> {
  const walk = yield* walkOverlap(start);
  const { checkpoint } = walk;
  const why = walk.how === 'ended' ? walk.why : whyUnproven(checkpoint.tally);
  if (why !== null) return judge('overlap', yield* withoutHead(checkpoint), why);
  const end = yield* readHead(checkpoint);
  const outrun = walk.how === 'outrun' ? OUTRUN : null;
  return judge('overlap', end, checkpoint.doubt ?? describeSwing(checkpoint.tally) ?? end.why ?? outrun);
}

interface End {
  readonly distinct: number;
  readonly total: number;
  /** Records that the head had and no page before it. */
  readonly created: number;
  /** Why the head came to no end; null if it did, or was not read. */
  readonly why: string | null;
}

/**
 * Reads the newest records of the list, from page 1 up to the first page that has one seen before. Each page is loaded
 * before the next is asked for, since only the load knows which records were seen. A page other than the one asked for
 * shows nothing, and the right one is asked for again.
 */
function* readHead(checkpoint: Checkpoint): Walk<End> {
  const { limit } = checkpoint;
  let tally = EMPTY_TALLY;
  let number = 1;
  let created = 0;
  for (;;) {
    const request = { page: number, limit };
    const page = yield* ask(request);
    tally = tallyAnswer(tally, request, page);
    // So that this page is a batch by itself.
    yield* settle();
    yield* load(checkpoint);
    const { distinct, fresh } = yield* settle();
    created += fresh;
    const end = { distinct, total: page.total, created };
    if (!isMisplaced(request, page)) {
      const known = new Set(page.ids.filter((id) => id !== null)).size;
      if (fresh < known || page.isLast || page.ids.length === 0) return { ...end, why: whyUnproven(tally) };
      number += 1;
    }
    const why = whyEnd(tally, limit, request, page);
    if (why !== null) return { ...end, why };
  }
}

function* withoutHead({ tally }: Checkpoint): Walk<End> {
  const { distinct } = yield* settle();
  return { distinct, total: tally.total ?? 0, created: 0, why: null };
}

// The argument needs no page twice. One is read again all the same, in case the order flipped while the run was
// stopped.
function onePageBack(checkpoint: PrefixCheckpoint): PrefixCheckpoint {
  return { ...checkpoint, covered: Math.max(0, checkpoint.covered - checkpoint.limit) };
}

/** Returns the verdict; `doubt` is why the walk proves nothing, or null. */
function judge(walk: Verdict['walk'], { distinct, total }: End, doubt: string | null): Verdict {
  const tooFew = `${distinct} different records were seen, but the API says that it has ${total}`;
  const reason = doubt ?? (distinct < total ? tooFew : null);
  return { verified: reason === null, reason, walk, distinct, total };
}

/** Returns why the total of a list that stood still is wrong: more records were seen; else null. */
function describeSmallTotal({ distinct, total }: End): string | null {
  if (distinct <= total) return null;
  return `the API contradicts itself: ${distinct} different records were seen, but it says that it has ${total}, and the list stood still`;
}
