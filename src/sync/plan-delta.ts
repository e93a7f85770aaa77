// Which affiliates' referrals a delta must read again, and what that costs in requests. Pure arithmetic on counters.
//
// Why it works. The API can neither filter nor sort by change, but each affiliate's visitors, leads and conversions
// count its referrals (a conversion counts as lead and visitor too, a lead as visitor). A referral that appears or
// changes its conversion_state therefore moves a counter of its affiliate. Whatever a counter moved by since all of
// the affiliate's referrals were last mirrored must be explained by the new rows at the head of the list; where it
// is not, in either direction, the affiliate's referrals are read again. Only changes are compared, never absolute
// values: those need not equal a count of rows.
// What it cannot see: changes that move no counter (a renamed customer, a visit, an expiry, a deletion), and changes
// of one affiliate's referrals that cancel out. The next full sync sees all of them.

import type { CounterChange } from '../mirror/runs/covered-counters.ts';

/** What every plan of a delta says. */
export interface PlannedRequests {
  readonly strategy: 'delta' | 'full';
  readonly expected_requests: number;
  readonly full_walk_requests: number;
}

/** Stored in the run log and printed. Units: requests. All that the run sends count, but for repeated ones. */
export interface ReferralsPlan extends PlannedRequests {
  readonly moved_affiliates: number;
}

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
 * whole list where its rest costs no more or it was never read.
 */
export function planRequests(toRead: number, spent: number, list: List): PlannedRequests {
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
 * Returns the plan: the head, which was read, and the moved affiliates' lists or the whole list. Where that was never
 * read, the mirror's own rows say nothing about what those lists cost.
 */
export function planDelta(moved: readonly CounterChange[], list: List): ReferralsPlan {
  const toRead = moved
    .map(({ rows }) => Math.max(1, Math.ceil(rows / list.limit)))
    .reduce((sum, pages) => sum + pages, 0);
  return { ...planRequests(toRead, list.headPages, list), moved_affiliates: moved.length };
}
