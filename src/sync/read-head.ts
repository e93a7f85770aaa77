// Reads the head of a list: what is new to the mirror is there, since the list is newest first.

import type { ListedResource } from '../contract/resources.ts';
import type { Checkpoint } from '../crawl/page.ts';
import { coverPage, prefixStart } from '../crawl/prefix-walk.ts';
import { whyEnd } from '../crawl/tally.ts';
import type { Database } from '../db/database.ts';
import { areRowsOld } from '../mirror/runs/new-rows.ts';
import type { RunLoader } from './run-loader.ts';
import type { WalkInput } from './walk.ts';

export interface Head {
  /** Records that the program says exist. */
  readonly total: number;
  /** Why it came to no end, where new records came page after page; null where it did. */
  readonly why: string | null;
  /** Pages that were asked for. */
  readonly pages: number;
  /** From where a walk of the whole list goes on; null where it has to begin anew. */
  readonly reached: Checkpoint | null;
}

/**
 * Returns what the head showed, after reading it until a page brings nothing that is new since the list was last read
 * as it should be. That a page's records are in the mirror does not end it: a run that was stopped may have stored them
 * without those that come after them.
 */
export async function readHead(
  { db, loader }: { db: Database; loader: RunLoader },
  resource: ListedResource,
  { limit, signal, mostPages }: Pick<WalkInput, 'limit' | 'signal'> & { mostPages: number },
): Promise<Head> {
  const listPage = loader.lister(resource);
  let reached = prefixStart(limit);
  for (let number = 1; ; number += 1) {
    const request = { page: number, limit };
    const page = await listPage(request, signal);
    reached = coverPage(reached, request, page).after;
    await loader.loadAside([page]);
    const { total } = page;
    const ids = page.ids.filter((id) => id !== null);
    const isOld = page.ids.length === 0 || (await areRowsOld(db, { resource, ids }));
    if (isOld || page.isLast || number >= mostPages) return { total, why: null, pages: number, reached };
    const why = whyEnd(reached.tally, limit, request, page);
    if (why !== null) return { total, why, pages: number, reached: null };
  }
}
