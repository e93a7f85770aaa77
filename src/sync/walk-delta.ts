// A delta run of referrals: the head of the list, then the lists of those affiliates whose counters say that
// something changed (see plan-delta.ts). Needs a run of affiliates just before it: the counters are theirs.
// A delta that is killed is simply begun again: what it had loaded already explains nothing to the next one, which
// therefore reads those affiliates' lists.

import { readCounterChanges } from '../mirror/covered-counters.ts';
import { savePlan } from '../mirror/save-plan.ts';
import { wasEverRead } from '../mirror/whole-runs.ts';
import { makeListPage } from './list-resource.ts';
import { findMoved, planDelta } from './plan-delta.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, Walked, WalkInput } from './walk.ts';
import { walkAside } from './walk-aside.ts';
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
    const list = { resource: 'referrals', filters: { affiliate_id } } as const;
    const walked = await walkAside(deps, loader, list, input);
    if (!walked.verified) verified = false;
  }
  return { verified, gone: null, heldBack: 0 };
}

/** Gives back the total, after reading the head until a page brings nothing that is new to the mirror. */
async function readNewRows(
  deps: SyncDeps,
  loader: RunLoader,
  input: WalkInput & { mostPages: number },
): Promise<number> {
  const listPage = makeListPage(
    { api: deps.api, onRequest: loader.countRequest, readPage: loader.readPage },
    'referrals',
  );
  for (let number = 1; ; number += 1) {
    const page = await listPage({ page: number, limit: input.limit }, input.signal);
    const { inserted } = await loader.loadAside([page]);
    if (inserted === 0 || page.isLast || number >= input.mostPages) return page.total;
  }
}
