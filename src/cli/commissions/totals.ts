// Sums by currency, action and state: what a dry run, and a batch that has ended, come to. What is paid, taken back and
// made payable are not added up, since one commission may have a request of each.

import type { z } from 'zod';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { addAmounts } from '../../contract/money.ts';
import { ACTIONS, type Action } from '../../contract/payment-request.ts';
import { sayUnit } from '../documents/amounts.ts';
import type { stateTotal } from '../documents/commissions.ts';
import { renderTable } from '../output/render-table.ts';
import { money } from './listings.ts';

interface Counted {
  readonly action: Action;
  readonly state: string;
  readonly amount: number | null;
  readonly currency: string | null;
}

export type StateTotal = z.infer<typeof stateTotal> & { readonly state: string };

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
      // What has no currency comes last.
      Number(a.currency === null) - Number(b.currency === null) ||
      (a.currency ?? '').localeCompare(b.currency ?? '') ||
      ACTIONS.indexOf(a.action) - ACTIONS.indexOf(b.action),
  );
}

/** Returns the sums for people to read; the title is that of the states. */
export function renderStateTotals(totals: readonly StateTotal[], title: string, unit: AmountUnit): string {
  return renderTable(
    ['currency', 'action', title, 'requests', 'amount'],
    totals.map(({ state, currency, action, requests, amount }) => [
      currency,
      action,
      state,
      requests,
      money(amount, currency, unit),
    ]),
  );
}

/** Returns the sums for programs; `key` is the name of the states. */
export function describeStateTotals(totals: readonly StateTotal[], key: string, unit: AmountUnit): object[] {
  return totals.map(({ state, ...rest }) => ({ [key]: state, ...sayUnit(rest, ['amount'], unit) }));
}
