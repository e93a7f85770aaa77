// A delta run of referrals: the head of the list, then the lists of those affiliates whose counters say that
// something changed (see plan-delta.ts). Needs a run of affiliates just before it: the counters are theirs. A delta
// that is killed begins again: to the next one, the rows that it had loaded are not new and explain no counter, so it
// reads those affiliates' lists.

import { readCounterChanges } from '../mirror/runs/covered-counters.ts';
import { savePlan } from '../mirror/runs/sync-runs.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import { findMoved, planDelta } from './plan-delta.ts';
import { readHead } from './read-head.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, Walked, WalkInput } from './walk.ts';
import { walkAside } from './walk-aside.ts';
import { walkFull } from './walk-full.ts';

/**
 * Returns whether every list that was read is verified. A delta marks nothing as deleted, unless it turns out that
 * the full walk costs no more, and is read instead.
 */
export async function walkDelta(deps: SyncDeps, loader: RunLoader, input: WalkInput): Promise<Walked> {
  const { db, log } = deps;
  const { run, limit } = input;
  const isKnown = await wasEverRead(db, 'referrals');
  const { total, why, pages, reached } = await readHead({ db, loader }, 'referrals', {
    ...input,
    isKnown,
  });
  const moved = findMoved(await readCounterChanges(db, run.id));
  const plan = planDelta(moved, { total, limit, wasEverRead: isKnown, headPages: pages });
  await savePlan(db, run, plan);
  log.info({ run_id: run.id, ...plan }, 'sync.delta_planned');
  if (plan.strategy === 'full') {
    return walkFull(deps, loader, { ...input, resource: 'referrals', head: 'always', from: reached });
  }
  let doubt = why;
  for (const { affiliate_id } of moved) {
    const list = { resource: 'referrals', filters: { affiliate_id } } as const;
    const walked = await walkAside(loader, list, input);
    if (walked.doubt !== null) doubt ??= `of the list of affiliate ${affiliate_id}, ${walked.doubt}`;
  }
  return { doubt, missing: null };
}
