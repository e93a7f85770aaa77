// Sums of a dry run, and of a batch that has ended, by currency, action and state. Actions are not added up, since one
// commission may have a request of each. Pure.

import { addAmounts } from '../contract/money.ts';
import { ACTIONS, type Action } from '../contract/payment-request.ts';

interface Counted {
  readonly action: Action;
  readonly state: string;
  readonly amount: number | null;
  readonly currency: string | null;
}

export interface StateTotal {
  readonly state: string;
  readonly currency: string | null;
  readonly action: Action;
  readonly requests: number;
  /** Null if the currency is. */
  readonly amount: bigint | null;
}

/** Returns the sums, by currency, by action, and then in the order in which the states first appear. */
export function totalsByState(rows: readonly Counted[]): StateTotal[] {
  const groups = Map.groupBy(rows, ({ currency, action, state }) =>
    [currency?.toUpperCase(), action, state].join(' '),
  );
  const totals = [...groups.values()].flatMap((of): StateTotal[] => {
    const [first] = of;
    if (first === undefined) return [];
    const { state, action } = first;
    const currency = first.currency?.toUpperCase() ?? null;
    const amount = currency === null ? null : addAmounts(of.map((row) => row.amount ?? 0));
    return [{ state, currency, action, requests: of.length, amount }];
  });
  return totals.toSorted(
    (a, b) =>
      // Sums without a currency come last.
      Number(a.currency === null) - Number(b.currency === null) ||
      (a.currency ?? '').localeCompare(b.currency ?? '') ||
      ACTIONS.indexOf(a.action) - ACTIONS.indexOf(b.action),
  );
}
