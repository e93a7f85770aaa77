// What a delta of commissions costs in requests, and when reading everything costs no more. Pure arithmetic.
//
// Why it works. A commission is new, or it is pending or due and may become anything, or it is settled: paid or voided.
// The new ones are at the head of the list, and the program lists those that are pending or due by a filter. One that
// the mirror has as pending or due and that is not in that list has moved on, and is read by its identifier.
// What it cannot see: what happens to a commission that is settled, unless that makes it pending or due again. The next
// full sync does.

import { type List, type PlannedRequests, planRequests } from './plan-delta.ts';

/** Stored in the run log and printed. Units: requests. All that the run sends count, but for repeated ones. */
export interface CommissionsPlan extends PlannedRequests {
  /** Those that the mirror had as pending or due. */
  readonly open_commissions: number;
  /** Those of them that are so no longer; null until the list of them was read. */
  readonly moved_commissions: number | null;
}

interface SpentList extends List {
  /** Requests that were sent so far. */
  readonly spent: number;
}

/** Returns the plan before the list of those that are pending or due is read; `open` are those that the mirror has. */
export function planOpen(open: number, list: SpentList): CommissionsPlan {
  return choose(Math.max(1, Math.ceil(open / list.limit)), list, {
    open_commissions: open,
    moved_commissions: null,
  });
}

/**
 * Returns the plan once it is read: those that moved are asked for one by one, and one more for each that is gone.
 * How many that are is not known before, and one is counted: commissions are rarely deleted.
 */
export function planMoved(
  { open, moved }: { open: number; moved: number },
  list: SpentList,
): CommissionsPlan {
  return choose(moved === 0 ? 0 : moved + 1, list, { open_commissions: open, moved_commissions: moved });
}

/** Returns the plan where everything must be read. */
export function planFull(open: number, list: SpentList): CommissionsPlan {
  return choose(Number.POSITIVE_INFINITY, list, { open_commissions: open, moved_commissions: null });
}

function choose(
  toRead: number,
  list: SpentList,
  counts: Pick<CommissionsPlan, 'open_commissions' | 'moved_commissions'>,
): CommissionsPlan {
  return { ...planRequests(toRead, list.spent, list), ...counts };
}
