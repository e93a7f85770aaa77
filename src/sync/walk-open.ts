// A delta run of commissions: the head of the list, then the list of those that are pending or due, then one by one
// those that the mirror has as pending or due and that are in that list no more: they were paid, voided or deleted. See
// plan-commissions.ts. A delta that is killed begins again.

import { countOpen, findUnmetOpen, isOpenRecord, OPEN_STATES } from '../mirror/open-commissions.ts';
import { savePlan } from '../mirror/runs/sync-runs.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import { type CommissionsPlan, planFull, planMoved, planOpen } from './plan-commissions.ts';
import { readById } from './read-by-id.ts';
import { readHead } from './read-head.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, Walked, WalkInput } from './walk.ts';
import { walkAside } from './walk-aside.ts';
import { walkFull } from './walk-full.ts';

/** The program lists what was not asked for: it does not know the filter. */
class FilterIgnored extends Error {}

/**
 * Returns whether every list that was read is verified. What the program no longer has of those that it was asked for
 * is gone; of all others nothing is known, unless the full walk costs no more, and is read instead.
 */
export async function walkOpen(deps: SyncDeps, loader: RunLoader, input: WalkInput): Promise<Walked> {
  const { db, log } = deps;
  const { run, limit, signal } = input;
  const announce = async (plan: CommissionsPlan) => {
    await savePlan(db, run, plan);
    log.info({ run_id: run.id, ...plan }, 'sync.delta_planned');
    return plan.strategy;
  };
  const isKnown = await wasEverRead(db, 'commissions');
  const head = await readHead({ db, loader }, 'commissions', {
    limit,
    signal,
    isKnown,
  });
  const readEverything = () =>
    walkFull(deps, loader, { ...input, resource: 'commissions', head: 'always', from: head.reached });
  const list = { total: head.total, limit, wasEverRead: isKnown, headPages: head.pages, spent: head.pages };
  const open = await countOpen(db);
  if ((await announce(planOpen(open, list))) === 'full') return readEverything();

  const filters = { resource: 'commissions', filters: { state: OPEN_STATES } } as const;
  const walked = await walkAside(loader, filters, { limit, signal, look: refuseOthers }).catch((error) => {
    if (error instanceof FilterIgnored) return null;
    throw error;
  });
  if (walked === null) {
    log.warn({ run_id: run.id, filter: 'state' }, 'sync.filter_not_believed');
    await announce(planFull(open, { ...list, spent: head.pages + 1 }));
    return readEverything();
  }
  const moved = await findUnmetOpen(db, { runId: run.id, seen: loader.seen });
  const spent = head.pages + walked.pages;
  if ((await announce(planMoved({ open, moved: moved.length }, { ...list, spent }))) === 'full') {
    return readEverything();
  }
  const { gone, unclear } = await readById(deps, { loader, signal }, moved);
  const doubts = [
    head.why,
    walked.doubt === null ? null : `of the list of those that are pending or due, ${walked.doubt}`,
    unclear === 0 ? null : `${unclear} that are no longer pending or due could not be read one by one`,
  ];
  const doubt = doubts.find((one) => one !== null) ?? null;
  return { doubt, missing: gone === null ? null : { gone, heldBack: null, isWhole: false } };
}

function refuseOthers(records: readonly unknown[]): void {
  if (!records.every(isOpenRecord)) throw new FilterIgnored();
}
