// The walks of src/crawl, followed as a sync follows them, over a list that a test makes up.

import { type CrawlOptions, crawl as crawlWalk, type Verdict } from '../../src/crawl/crawl.ts';
import { type OverlapOutcome, walkOverlap as overlapWalk } from '../../src/crawl/overlap-walk.ts';
import type {
  Checkpoint,
  Loaded,
  OverlapCheckpoint,
  Page,
  PageRequest,
  PrefixCheckpoint,
} from '../../src/crawl/page.ts';
import { type PrefixOutcome, walkPrefix as prefixWalk } from '../../src/crawl/prefix-walk.ts';
import { followWalk } from '../../src/sync/read-list.ts';

export interface List {
  readonly listPage: (request: PageRequest) => Promise<Page>;
  readonly load: (pages: readonly Page[], checkpoint: Checkpoint) => Promise<Loaded>;
}

const steps = ({ listPage, load }: List) => ({ fetchPage: listPage, loadPages: load });

/** Each ends once every page is loaded. */
export function crawl(list: List, options: CrawlOptions): Promise<Verdict> {
  return followWalk(crawlWalk(options), steps(list));
}

export function walkPrefix(list: List, from: PrefixCheckpoint): Promise<PrefixOutcome> {
  return followWalk(prefixWalk(from), steps(list));
}

export function walkOverlap(list: List, from: OverlapCheckpoint): Promise<OverlapOutcome> {
  return followWalk(overlapWalk(from), steps(list));
}
