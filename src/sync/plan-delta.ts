// Plans what a delta reads again: the requests that it costs, and when reading everything costs no more. Pure.
//
// Referrals. The API can neither filter nor sort by change, but each affiliate's visitors, leads and conversions
// count its referrals (a conversion counts as lead and visitor too, a lead as visitor). A referral that appears or
// changes its conversion_state therefore moves a counter of its affiliate. The new rows at the head of the list must
// explain by how much a counter moved since all of the affiliate's referrals were last mirrored; if they do not, in
// either direction, the affiliate's referrals are read again. Only changes are compared, never absolute values: those
// need not equal a count of rows.
// It cannot see changes that move no counter (a renamed customer, a visit, an expiry, a deletion), nor changes of one
// affiliate's referrals that cancel out. The next full sync sees all of them.
//
// Commissions and payouts. A record is new, or it is open and may become anything (of a commission: pending or due), or
// it is settled: paid or voided. The new ones are at the head of the list, and the API lists the open ones by a filter.
// A record that the mirror has as open and that is not in that list has moved on, and is read by its identifier.
// It cannot see changes of a settled record, unless they make it open again. The next full sync does.

import type { CounterChange } from '../mirror/runs/covered-counters.ts';

export interface PlannedRequests {
  readonly strategy: 'delta' | 'full';
  readonly expected_requests: number;
  readonly full_walk_requests: number;
}

/** Stored in the run log and printed. Units: requests. All that the run sends count, but for repeated ones. */
export interface ReferralsPlan extends PlannedRequests {
  readonly moved_affiliates: number;
}

/** Stored in the run log and printed. Units: requests. All that the run sends count, but for repeated ones. */
export interface OpenPlan extends PlannedRequests {
  /** Records that the mirror had as open. */
  readonly open_records: number;
  /** Those that are so no longer; null until the list of open ones was read. */
  readonly moved_records: number | null;
}

export type DeltaPlan = ReferralsPlan | OpenPlan;

/** The whole list, as its head showed it. */
export interface List {
  readonly total: number;
  readonly limit: number;
  readonly wasEverRead: boolean;
  /** Pages of the head: they were read already, and a walk of the whole list goes on behind them. */
  readonly headPages: number;
}

/**
 * Returns the plan of a run that has sent `spent` requests and would read the changes with `toRead` more: that, or the
 * whole list if its rest costs no more or it was never read.
 */
function planRequests(toRead: number, spent: number, list: List): PlannedRequests {
  const { total, limit, headPages, wasEverRead } = list;
  // It reads every page and the head once more; going on behind the head, it reads the last page of that again.
  const whole = Math.max(1, Math.ceil(total / limit)) + 1;
  const rest = whole - (headPages - 1);
  const strategy = wasEverRead && toRead < rest ? 'delta' : 'full';
  return {
    strategy,
    expected_requests: spent + (strategy === 'delta' ? toRead : rest),
    full_walk_requests: whole,
  };
}

/** Returns the affiliates whose counters moved otherwise than the new rows explain. */
export function findMoved(affiliates: readonly CounterChange[]): CounterChange[] {
  return affiliates.filter(({ covered, current, explained }) =>
    (['visitors', 'leads', 'conversions'] as const).some(
      (counter) => current[counter] - covered[counter] !== explained[counter],
    ),
  );
}

/**
 * Returns the plan: the head, which was read, and the moved affiliates' lists or the whole list. If that was never
 * read, the mirror's own rows say nothing about the cost of those lists.
 */
export function planDelta(moved: readonly CounterChange[], list: List): ReferralsPlan {
  const toRead = moved
    .map(({ rows }) => Math.max(1, Math.ceil(rows / list.limit)))
    .reduce((sum, pages) => sum + pages, 0);
  return { ...planRequests(toRead, list.headPages, list), moved_affiliates: moved.length };
}

interface SpentList extends List {
  /** Requests that were sent so far. */
  readonly spent: number;
}

/** Returns the plan before the list of open records is read; `open` are those that the mirror has. */
export function planOpen(open: number, list: SpentList): OpenPlan {
  const requests = planRequests(Math.max(1, Math.ceil(open / list.limit)), list.spent, list);
  return { ...requests, open_records: open, moved_records: null };
}

/**
 * Returns the plan once it is read: the moved records are asked for one by one, and one more for each that is gone.
 * Their number is not known before, and one is counted: such records are rarely deleted.
 */
export function planMoved({ open, moved }: { open: number; moved: number }, list: SpentList): OpenPlan {
  const requests = planRequests(moved === 0 ? 0 : moved + 1, list.spent, list);
  return { ...requests, open_records: open, moved_records: moved };
}
