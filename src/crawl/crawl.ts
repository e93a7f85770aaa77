// Reads a whole list and says whether nothing can be missing: a walk, the head, and the verdict.
// Knows pages and positions. Refuses to know how a page is fetched and where its records go.
//
// The verdict: at least as many distinct records must have been seen as the final total says exist (records seen
// and then deleted make it more, never fewer). Fewer after a frontier walk: one overlap walk. Still fewer, or a walk
// that gave up: not verified. Asked for concurrently, a list whose total fell is walked again the exact way, since
// the frontier argument needs answers in order. What can still slip through a verified crawl: records of equal time
// whose order flips between two answers, a total that lies, and a record missed behind a back-dated insertion (or,
// asked for concurrently, behind an insertion and a deletion that cancel out) while another one, seen, vanished.
// The next crawl heals each of them.

import { frontierStart, walkFrontier } from './frontier-walk.ts';
import { readHead } from './head.ts';
import { type Loader, makeLoader } from './loader.ts';
import { overlapStart, walkOverlap } from './overlap-walk.ts';
import type { Checkpoint, CrawlDeps, FrontierCheckpoint, Page } from './page.ts';

export interface CrawlOptions {
  /** Records per page to ask for. */
  readonly limit: number;
  /** Pages in flight at once. */
  readonly concurrency: number;
  /** Where a killed run stopped; null to start from the head, `overlapStart` to have the exact walk from there. */
  readonly resumeFrom: Checkpoint | null;
  /** `when-moved` saves the head's request where the total never changed during the walk. */
  readonly head: 'always' | 'when-moved';
  readonly signal?: AbortSignal | undefined;
}

export interface Verdict {
  readonly verified: boolean;
  /** The walk that the verdict rests on. */
  readonly walk: 'frontier' | 'overlap';
  readonly distinct: number;
  readonly total: number;
}

/**
 * Gives back the verdict, once every page read is loaded. Pages that were read are loaded even when the crawl ends
 * in an error or an abort: they are paid for, and the checkpoint stays true.
 *
 * Throws: what listing or loading throws; the signal's reason when aborted.
 */
export async function crawl<P extends Page>(deps: CrawlDeps<P>, options: CrawlOptions): Promise<Verdict> {
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

async function crawlThrough<P extends Page>(walking: Walking<P>, options: CrawlOptions): Promise<Verdict> {
  const { resumeFrom, limit, signal } = options;
  if (resumeFrom?.walk !== 'overlap') {
    const start = resumeFrom === null ? frontierStart(limit) : onePageBack(resumeFrom);
    const { complete, checkpoint } = await walkFrontier(walking, start, options);
    const inOrder = options.concurrency === 1 || !checkpoint.fell;
    const still = !checkpoint.moved && resumeFrom === null && options.head === 'when-moved';
    const end = still
      ? await withoutHead(walking, checkpoint)
      : await headOf(walking, checkpoint, { limit: checkpoint.limit, signal });
    if (complete && inOrder && end.distinct >= end.total) {
      return { verified: true, walk: 'frontier', ...end };
    }
  }
  const start = resumeFrom?.walk === 'overlap' ? resumeFrom : overlapStart(limit);
  const { complete, checkpoint } = await walkOverlap(walking, start, { signal });
  const end = await headOf(walking, checkpoint, { limit: checkpoint.limit, signal });
  return { verified: complete && end.distinct >= end.total, walk: 'overlap', ...end };
}

async function headOf<P extends Page>(
  walking: Walking<P>,
  checkpoint: Checkpoint,
  options: { limit: number; signal: AbortSignal | undefined },
): Promise<{ distinct: number; total: number }> {
  const { total, loaded } = await readHead(walking, checkpoint, options);
  return { distinct: loaded.distinct, total };
}

async function withoutHead<P extends Page>(
  walking: Walking<P>,
  checkpoint: FrontierCheckpoint,
): Promise<{ distinct: number; total: number }> {
  const loaded = await walking.loader.drain();
  return { distinct: loaded?.distinct ?? 0, total: checkpoint.total ?? 0 };
}

// The argument needs no page twice; one is read again all the same, against an order that flipped while nobody read.
function onePageBack(checkpoint: FrontierCheckpoint): FrontierCheckpoint {
  return { ...checkpoint, frontier: Math.max(0, checkpoint.frontier - checkpoint.limit) };
}
