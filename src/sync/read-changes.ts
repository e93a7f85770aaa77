// Reads the changes for a delta: the head of the list, and the parts behind it that plan-delta.ts names. A delta that
// is killed begins again. The rows that it had loaded are then not new, and explain no counter: those affiliates' lists
// are read.

import { RESOURCES, type SingleResource } from '../contract/resources.ts';
import { countOpen, findUnmetOpen } from '../mirror/find-missing.ts';
import { readCounterChanges } from '../mirror/runs/covered-counters.ts';
import { savePlan } from '../mirror/runs/sync-runs.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import type { OpenRun, ReadOutcome } from './open-run.ts';
import { type DeltaPlan, findMoved, planDelta, planMoved, planOpen } from './plan-delta.ts';
import { readById } from './read-by-id.ts';
import { readFull } from './read-full.ts';
import { readFiltered, readHead } from './read-list.ts';

/**
 * Reads the changes of referrals: the head, then the lists of those affiliates whose counters say that something
 * changed. Needs a run of affiliates just before it: the counters are theirs.
 *
 * Returns whether every list that was read is verified. A delta marks nothing as deleted, unless the full walk costs no
 * more, and is read instead.
 */
export async function readChangedReferrals(reading: OpenRun): Promise<ReadOutcome> {
  const { db, run, limit } = reading;
  const isKnown = await wasEverRead(db, 'referrals');
  const { total, why, pages, reached } = await readHead(reading, { isKnown });
  const moved = findMoved(await readCounterChanges(db, run.id));
  const plan = planDelta(moved, { total, limit, wasEverRead: isKnown, headPages: pages });
  if ((await announce(reading, plan)) === 'full') return readFull(reading, { head: 'always', from: reached });
  let doubt = why;
  for (const { affiliate_id } of moved) {
    const { end } = await readFiltered<'referrals'>(reading, { filters: { affiliate_id } });
    if (end !== null) doubt ??= `of the list of affiliate ${affiliate_id}, ${end}`;
  }
  return { doubt, missing: null };
}

/**
 * Reads the changes of commissions or payouts: the head, then the list of open ones, then one by one those that the
 * mirror has as open and that are in that list no more: they were paid, voided or deleted.
 *
 * Returns whether every list that was read is verified. A record that was asked for and not found is gone; nothing is
 * known of the others, unless the full walk costs no more, and is read instead.
 */
export async function readChangedOpen(reading: OpenRun, resource: SingleResource): Promise<ReadOutcome> {
  const { db, run, loader, limit } = reading;
  const { openStates } = RESOURCES[resource];
  const isKnown = await wasEverRead(db, resource);
  const head = await readHead(reading, { isKnown });
  const readEverything = () => readFull(reading, { head: 'always', from: head.reached });
  const list = { total: head.total, limit, wasEverRead: isKnown, headPages: head.pages, spent: head.pages };
  const open = await countOpen(db, resource);
  if ((await announce(reading, planOpen(open, list))) === 'full') return readEverything();

  const listed = await readFiltered<SingleResource>(reading, { filters: { state: openStates } });
  const moved = await findUnmetOpen(db, { runId: run.id, resource, seen: loader.seen });
  const spent = head.pages + listed.pages;
  const plan = planMoved({ open, moved: moved.length }, { ...list, spent });
  if ((await announce(reading, plan)) === 'full') return readEverything();

  const { gone, unclear } = await readById(reading, resource, moved);
  const doubts = [
    head.why,
    listed.end === null ? null : `of the list of those that are ${openStates.join(' or ')}, ${listed.end}`,
    unclear === 0
      ? null
      : `${unclear} that are no longer ${openStates.join(' or ')} could not be read one by one`,
  ];
  const doubt = doubts.find((one) => one !== null) ?? null;
  return { doubt, missing: gone === null ? null : { gone, heldBack: null, isWhole: false } };
}

async function announce({ db, log, run }: OpenRun, plan: DeltaPlan): Promise<DeltaPlan['strategy']> {
  await savePlan(db, run, plan);
  log.info({ run_id: run.id, ...plan }, 'sync.delta_planned');
  return plan.strategy;
}
