// Reads a whole list and says whether anything can be missing: a walk, the head, and the verdict. Contains no SQL and
// no HTTP: the caller fetches the pages and stores their records.
//
// The verdict: at least as many distinct records must have been seen as the final total says exist (records seen
// and then deleted make it more, never fewer). Fewer after a prefix walk: one overlap walk. Still fewer, or a walk
// that gave up: not verified. Where the totals swing, the overlap walk reads the list, and is not verified: there is no
// total to compare it with. Nor is there where a list that stood still holds more than its total. Where no walk can go
// on, the crawl ends there (see tally.ts). A walk with a page that is older than its question, or with a record that
// nothing tells from others, is read to its end, since the other pages are news, and is not verified.
// What a verified crawl can still miss: records of equal time whose order flips between two answers, a wrong total, and
// a record missed behind a back-dated insertion while another one, seen, vanished. The next crawl finds each of them;
// how often this happens, test/crawl/measure-verdicts.ts measures.

import { readHead } from './head.ts';
import { type Loader, makeLoader } from './loader.ts';
import { overlapStart, walkOverlap } from './overlap-walk.ts';
import type { Checkpoint, CrawlDeps, OverlapCheckpoint, Page, PrefixCheckpoint } from './page.ts';
import { prefixStart, walkPrefix } from './prefix-walk.ts';
import { describeSwing, OUTRUN, whyUnproven } from './tally.ts';
import { describeSmallTotal, type End, judge, type WalkVerdict } from './verdict.ts';

export interface CrawlOptions {
  /** Records per page to ask for. */
  readonly limit: number;
  /** Where a killed run stopped; null to start from the head, `overlapStart` for the overlap walk from there. */
  readonly resumeFrom: Checkpoint | null;
  /** `when-moved` saves the head's request where the total never changed during the walk. */
  readonly head: 'always' | 'when-moved';
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the verdict, once every page read is loaded. Where the crawl ends in an error or an abort, the pages before
 * the one that failed are loaded all the same: their requests are spent, and the checkpoint stays right.
 *
 * Throws: what listing or loading throws; the signal's reason when aborted.
 */
export async function crawl<P extends Page>(deps: CrawlDeps<P>, options: CrawlOptions): Promise<WalkVerdict> {
  const loader = makeLoader(deps);
  try {
    return await crawlThrough({ listPage: deps.listPage, loader }, options);
  } catch (error) {
    // Where loading fails as well, that is the error to throw: what was read counts as loaded (see sync/run-loader.ts).
    await loader.drain();
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
  const { resumeFrom, signal } = options;
  if (resumeFrom?.walk === 'overlap') return crawlByOverlap(walking, resumeFrom, signal);
  const first = await crawlByPrefix(walking, resumeFrom, options);
  return 'verified' in first ? first : crawlByOverlap(walking, first, signal);
}

/** Returns the verdict; or, where the prefix walk decides nothing, from where the overlap walk reads the list. */
async function crawlByPrefix<P extends Page>(
  walking: Walking<P>,
  resumeFrom: PrefixCheckpoint | null,
  options: CrawlOptions,
): Promise<WalkVerdict | OverlapCheckpoint> {
  const { limit, head, signal } = options;
  const from = resumeFrom === null ? prefixStart(limit) : onePageBack(resumeFrom);
  const walk = await walkPrefix(walking, from, { signal });
  const { checkpoint } = walk;
  const { tally } = checkpoint;
  const why = walk.how === 'ended' ? walk.why : whyUnproven(tally);
  if (why !== null) return judge('prefix', await withoutHead(walking, checkpoint), why);
  const swing = describeSwing(tally);
  if (walk.how !== 'complete' || swing !== null) return overlapStart(limit, swing);

  const isStill = !tally.moved && resumeFrom === null;
  const end =
    isStill && head === 'when-moved'
      ? await withoutHead(walking, checkpoint)
      : await headOf(walking, checkpoint, signal);
  const stoodStill = isStill && end.created === 0 && end.total === tally.total;
  const doubt = end.why ?? (stoodStill ? describeSmallTotal(end) : null);
  const verdict = judge('prefix', end, doubt);
  return verdict.verified || doubt !== null ? verdict : overlapStart(limit, null);
}

async function crawlByOverlap<P extends Page>(
  walking: Walking<P>,
  start: OverlapCheckpoint,
  signal: AbortSignal | undefined,
): Promise<WalkVerdict> {
  const walk = await walkOverlap(walking, start, { signal });
  const { checkpoint } = walk;
  const why = walk.how === 'ended' ? walk.why : whyUnproven(checkpoint.tally);
  if (why !== null) return judge('overlap', await withoutHead(walking, checkpoint), why);
  const end = await headOf(walking, checkpoint, signal);
  const outrun = walk.how === 'outrun' ? OUTRUN : null;
  return judge('overlap', end, checkpoint.doubt ?? describeSwing(checkpoint.tally) ?? end.why ?? outrun);
}

async function headOf<P extends Page>(
  walking: Walking<P>,
  checkpoint: Checkpoint,
  signal: AbortSignal | undefined,
): Promise<End> {
  const { loaded, ...head } = await readHead(walking, checkpoint, { limit: checkpoint.limit, signal });
  return { distinct: loaded.distinct, ...head };
}

async function withoutHead<P extends Page>(walking: Walking<P>, { tally }: Checkpoint): Promise<End> {
  const { distinct } = (await walking.loader.drain()) ?? { distinct: 0 };
  return { distinct, total: tally.total ?? 0, created: 0, why: null };
}

// The argument needs no page twice; one is read again all the same, in case the order flipped while nobody read.
function onePageBack(checkpoint: PrefixCheckpoint): PrefixCheckpoint {
  return { ...checkpoint, covered: Math.max(0, checkpoint.covered - checkpoint.limit) };
}
