// Reads the head of a list: what is new to the mirror is there, since the list is newest first. It is walked as the
// whole list is, so that a record that is deleted meanwhile hides no other.

import type { ListedResource } from '../contract/resources.ts';
import type { Checkpoint } from '../crawl/page.ts';
import { prefixStart, walkPrefix } from '../crawl/prefix-walk.ts';
import { whyUnproven } from '../crawl/tally.ts';
import type { Database } from '../db/database.ts';
import { areRowsOld } from '../mirror/runs/whole-runs.ts';
import type { RecordPage } from './list-resource.ts';
import type { RunLoader } from './run-loader.ts';
import type { WalkInput } from './walk.ts';

export interface Head {
  /** Records that the program says exist. */
  readonly total: number;
  /** Why it came to no end, or proves nothing; else null. */
  readonly why: string | null;
  /** Pages that were asked for. */
  readonly pages: number;
  /** From where a walk of the whole list goes on; null where it has to begin anew. */
  readonly reached: Checkpoint | null;
}

/**
 * Returns what the head showed, after reading it until a page brings nothing that is new since the list was last read
 * as it should be; where everything is to be read behind it (`isKnown` false), only the first page. That a page's
 * records are in the mirror does not end it: a run that was stopped may have stored them without those that come after
 * them.
 */
export async function readHead(
  { db, loader }: { db: Database; loader: RunLoader },
  resource: ListedResource,
  { limit, signal, isKnown }: Pick<WalkInput, 'limit' | 'signal'> & { isKnown: boolean },
): Promise<Head> {
  const walk = await walkPrefix<RecordPage>(
    {
      listPage: loader.lister(resource),
      loader: {
        async push(page) {
          await loader.loadAside([page]);
        },
      },
    },
    prefixStart(limit),
    {
      signal,
      async isEnough(page) {
        const ids = page.ids.filter((id) => id !== null);
        return !isKnown || (await areRowsOld(db, { resource, ids }));
      },
    },
  );
  const { checkpoint } = walk;
  const { total, answers } = checkpoint.tally;
  const head = { total: total ?? 0, pages: answers };
  return walk.how === 'complete'
    ? { ...head, why: whyUnproven(checkpoint.tally), reached: checkpoint }
    : { ...head, why: walk.why, reached: null };
}
