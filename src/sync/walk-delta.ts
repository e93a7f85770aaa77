// A delta run of referrals: the head of the list, then the lists of those affiliates whose counters say that
// something changed (see plan-delta.ts). Needs a run of affiliates just before it: the counters are theirs. A delta
// that is killed begins again: to the next one, the rows that it had loaded are not new and explain no counter, so it
// reads those affiliates' lists.

import { EMPTY_TALLY, tallyAnswer, whyEnd } from '../crawl/tally.ts';
import { readCounterChanges } from '../mirror/runs/covered-counters.ts';
import { savePlan } from '../mirror/runs/save-plan.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import { makeListPage } from './list-resource.ts';
import { findMoved, planDelta } from './plan-delta.ts';
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
  const { total, why } = await readNewRows(deps, loader, {
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
  let doubt = why;
  for (const { affiliate_id } of moved) {
    const list = { resource: 'referrals', filters: { affiliate_id } } as const;
    const walked = await walkAside(deps, loader, list, input);
    if (walked.doubt !== null) doubt ??= `of the list of affiliate ${affiliate_id}, ${walked.doubt}`;
  }
  return { doubt, gone: null, heldBack: 0 };
}

/**
 * Returns the total, after reading the head until a page brings nothing that is new to the mirror, and why it came to
 * no end, where new records came page after page.
 */
async function readNewRows(
  deps: SyncDeps,
  loader: RunLoader,
  input: WalkInput & { mostPages: number },
): Promise<{ total: number; why: string | null }> {
  const listPage = makeListPage(
    { api: deps.api, onRequest: loader.countRequest, readPage: loader.readPage },
    'referrals',
  );
  const { limit } = input;
  let tally = EMPTY_TALLY;
  for (let number = 1; ; number += 1) {
    const request = { page: number, limit };
    const page = await listPage(request, input.signal);
    tally = tallyAnswer(tally, request, page);
    const { inserted } = await loader.loadAside([page]);
    const { total } = page;
    if (inserted === 0 || page.isLast || number >= input.mostPages) return { total, why: null };
    const why = whyEnd(tally, limit, request, page);
    if (why !== null) return { total, why };
  }
}
