// A delta run of referrals: the head of the list, then the lists of those affiliates whose counters say that
// something changed (see plan-delta.ts). Needs a run of affiliates just before it: the counters are theirs.
// A delta that is killed is simply begun again: what it had loaded already explains nothing to the next one, which
// therefore reads those affiliates' lists.

import { crawl } from '../crawl/crawl.ts';
import { readCounterChanges } from '../mirror/covered-counters.ts';
import { savePlan } from '../mirror/save-plan.ts';
import { wasEverRead } from '../mirror/whole-runs.ts';
import { makeListPage, type RecordPage } from './list-resource.ts';
import { findMoved, planDelta } from './plan-delta.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, Walked, WalkInput } from './walk.ts';
import { walkFull } from './walk-full.ts';

/**
 * Gives back whether every list that was read is verified. A delta marks nothing as deleted, unless it turns out that
 * the full walk costs no more, and is read instead.
 */
export async function walkDelta(deps: SyncDeps, loader: RunLoader, input: WalkInput): Promise<Walked> {
  const { db, log } = deps;
  const { run, limit } = input;
  const isKnown = await wasEverRead(db, 'referrals');
  const total = await readNewRows(deps, loader, {
    ...input,
    mostPages: isKnown ? Number.MAX_SAFE_INTEGER : 1,
  });
  const moved = findMoved(await readCounterChanges(db, run.id));
  const plan = planDelta(moved, { total, limit, wasEverRead: isKnown });
  await savePlan(db, run.id, plan);
  log.info({ run_id: run.id, ...plan }, 'sync.delta_plan');
  if (plan.strategy === 'full') {
    return walkFull(deps, loader, { ...input, resource: 'referrals', head: 'always' });
  }
  let verified = true;
  for (const { affiliate_id } of moved) {
    if (!(await readAffiliate(deps, loader, input, affiliate_id))) verified = false;
  }
  return { verified, gone: null, heldBack: 0 };
}

/** Gives back the total, after reading the head until a page brings nothing that is new to the mirror. */
async function readNewRows(
  deps: SyncDeps,
  loader: RunLoader,
  input: WalkInput & { mostPages: number },
): Promise<number> {
  const listPage = makeListPage({ api: deps.api, onRequest: loader.countRequest }, 'referrals');
  for (let number = 1; ; number += 1) {
    const page = await listPage({ page: number, limit: input.limit }, input.signal);
    const { inserted } = await loader.loadAside([page]);
    if (inserted === 0 || page.isLast || number >= input.mostPages) return page.total;
  }
}

async function readAffiliate(
  deps: SyncDeps,
  loader: RunLoader,
  input: WalkInput,
  affiliateId: string,
): Promise<boolean> {
  const { limit, signal } = input;
  // The run's own count of distinct records cannot judge a part of the list.
  const seen = new Set<string>();
  const { verified } = await crawl<RecordPage>(
    {
      listPage: makeListPage({ api: deps.api, onRequest: loader.countRequest }, 'referrals', {
        affiliate_id: affiliateId,
      }),
      load: async (pages) => {
        await loader.loadAside(pages);
        const before = seen.size;
        for (const id of pages.flatMap(({ ids }) => ids)) if (id !== null) seen.add(id);
        return { distinct: seen.size, fresh: seen.size - before };
      },
    },
    { limit, concurrency: 1, resumeFrom: null, head: 'when-moved', signal },
  );
  return verified;
}
