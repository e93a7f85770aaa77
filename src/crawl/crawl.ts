// Reads a whole list and says whether anything can be missing: a walk, the head, and the verdict. Contains no SQL and
// no HTTP: the caller fetches the pages and stores their records.
//
// The verdict: at least as many distinct records must have been seen as the final total says exist (records seen
// and then deleted make it more, never fewer). Fewer after a prefix walk: one overlap walk. Still fewer, or a walk
// that gave up: not verified. With several pages in flight, a list whose total fell is read again by the overlap walk,
// since the prefix walk's argument needs answers in order; and so is one at whose head more was created than its total
// rose by, since then something was deleted as well. Where the totals swing, the overlap walk reads the list, and is
// not verified: there is no total to compare it with. Nor is there where a list that stood still holds more than its
// total. Where no walk can go on, the crawl ends there (see tally.ts).
// Records without an identifier that are the same (`null`, say) count once. Where that alone makes them too few, the
// list is verified if it stood still and each of its positions was read once, and else not: no further walk could tell.
// Why the head shows a deletion: what came at the head after the first answer is still there, unless it vanished again.
// Where the total rose by at least that much, whatever vanished had come in the same time, and moved nothing forward.
// What a verified crawl can still miss: records of equal time whose order flips between two answers, a wrong total, and
// a record missed behind a back-dated insertion (with several pages in flight, also where more than a page of records
// came in the meantime) while another one, seen, vanished. The next crawl finds each of them; how often this happens,
// test/crawl/measure-verdicts.ts measures.

import { readHead } from './head.ts';
import { type Loader, makeLoader } from './loader.ts';
import { overlapStart, walkOverlap } from './overlap-walk.ts';
import type { Checkpoint, CrawlDeps, Page, PrefixCheckpoint } from './page.ts';
import { prefixStart, walkPrefix } from './prefix-walk.ts';
import { describeSwing, OUTRUN } from './tally.ts';

export interface CrawlOptions {
  /** Records per page to ask for. */
  readonly limit: number;
  /** Pages in flight at once. */
  readonly concurrency: number;
  /** Where a killed run stopped; null to start from the head, `overlapStart` for the overlap walk from there. */
  readonly resumeFrom: Checkpoint | null;
  /** `when-moved` saves the head's request where the total never changed during the walk. */
  readonly head: 'always' | 'when-moved';
  readonly signal?: AbortSignal | undefined;
}

export interface WalkVerdict {
  readonly verified: boolean;
  /** Why it is not verified; null where it is. */
  readonly reason: string | null;
  /** The walk whose answers decided. */
  readonly walk: 'prefix' | 'overlap';
  readonly distinct: number;
  readonly total: number;
}

/**
 * Returns the verdict, once every page read is loaded. Pages that were read are loaded even when the crawl ends in
 * an error or an abort: their requests are spent, and the checkpoint stays right.
 *
 * Throws: what listing or loading throws; the signal's reason when aborted.
 */
export async function crawl<P extends Page>(deps: CrawlDeps<P>, options: CrawlOptions): Promise<WalkVerdict> {
  const loader = makeLoader(deps);
  try {
    return await crawlThrough({ listPage: deps.listPage, loader }, options);
  } catch (error) {
    await loader.drain().catch(() => {
      // The loader's own failure is either `error` itself or came after it; the first one is the one to report.
    });
    throw error;
  }
}

interface Walking<P extends Page> {
  readonly listPage: CrawlDeps<P>['listPage'];
  readonly loader: Loader<P>;
}

async function crawlThrough<P extends Page>(
  walking: Walking<P>,
  options: CrawlOptions,
): Promise<WalkVerdict> {
  const { resumeFrom, limit, signal } = options;
  let start = resumeFrom;
  if (start?.walk !== 'overlap') {
    const { listPage, read } = countRecords(walking.listPage);
    const from = start === null ? prefixStart(limit) : onePageBack(start);
    const walk = await walkPrefix({ ...walking, listPage }, from, options);
    const { checkpoint } = walk;
    if (walk.how === 'ended') return judge('prefix', await withoutHead(walking, checkpoint), walk.why);
    const swing = describeSwing(checkpoint.tally);
    if (walk.how === 'complete' && swing === null) {
      const { moved, falls, firstTotal, total } = checkpoint.tally;
      const isStill = !moved && resumeFrom === null;
      const end =
        isStill && options.head === 'when-moved'
          ? await withoutHead(walking, checkpoint)
          : await headOf(walking, checkpoint, signal);
      const stoodStill = isStill && end.created === 0 && end.total === total;
      const why = end.why ?? (stoodStill ? describeSmallTotal(end) : null);
      const verdict = judge('prefix', end, why);
      if (!verdict.verified && why === null && isExplained(end, read)) {
        const isReadOnce = stoodStill && read.records === end.total;
        return isReadOnce ? { ...verdict, verified: true, reason: null } : { ...verdict, reason: ALIKE };
      }
      const nothingVanished = falls === 0 && end.created <= end.total - (firstTotal ?? 0);
      const inOrder = options.concurrency === 1 || nothingVanished;
      if ((verdict.verified && inOrder) || why !== null) return verdict;
    }
    start = overlapStart(limit, swing);
  }
  const walk = await walkOverlap(walking, start, { signal });
  const { checkpoint } = walk;
  if (walk.how === 'ended') return judge('overlap', await withoutHead(walking, checkpoint), walk.why);
  const end = await headOf(walking, checkpoint, signal);
  const outrun = walk.how === 'outrun' ? OUTRUN : null;
  return judge('overlap', end, checkpoint.doubt ?? describeSwing(checkpoint.tally) ?? end.why ?? outrun);
}

/** Returns what is wrong with the total of a list that stood still, where it is less than what was seen; else null. */
function describeSmallTotal({ distinct, total }: End): string | null {
  if (distinct <= total) return null;
  return `the program contradicts itself: ${distinct} different records were seen, where it says that it has ${total}, and the list stood still`;
}

/** What the pages of a walk held. */
interface Read {
  records: number;
  /** Those of them without an identifier that can be used. */
  anonymous: number;
}

function countRecords<P extends Page>(
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

/** Returns whether there would be enough records if none without an identifier were the same as another. */
function isExplained({ distinct, anonymous, total }: End, read: Readonly<Read>): boolean {
  return distinct - anonymous + read.anonymous >= total;
}

const ALIKE =
  'records without an identifier are the same as others, and while the list moves nobody can say how many there are';

interface End {
  readonly distinct: number;
  readonly anonymous: number;
  readonly total: number;
  /** Records that the head had and no page before it. */
  readonly created: number;
  /** Why the head came to no end; null where it did, or was not read. */
  readonly why: string | null;
}

function judge(walk: WalkVerdict['walk'], { distinct, total }: End, doubt: string | null): WalkVerdict {
  const tooFew = `${distinct} different records were seen, where the program says that it has ${total}`;
  const reason = doubt ?? (distinct < total ? tooFew : null);
  return { verified: reason === null, reason, walk, distinct, total };
}

async function headOf<P extends Page>(
  walking: Walking<P>,
  checkpoint: Checkpoint,
  signal: AbortSignal | undefined,
): Promise<End> {
  const { loaded, ...head } = await readHead(walking, checkpoint, { limit: checkpoint.limit, signal });
  return { distinct: loaded.distinct, anonymous: loaded.anonymous, ...head };
}

async function withoutHead<P extends Page>(walking: Walking<P>, { tally }: Checkpoint): Promise<End> {
  const { distinct, anonymous } = (await walking.loader.drain()) ?? { distinct: 0, anonymous: 0 };
  return { distinct, anonymous, total: tally.total ?? 0, created: 0, why: null };
}

// The argument needs no page twice; one is read again all the same, in case the order flipped while nobody read.
function onePageBack(checkpoint: PrefixCheckpoint): PrefixCheckpoint {
  return { ...checkpoint, covered: Math.max(0, checkpoint.covered - checkpoint.limit) };
}
