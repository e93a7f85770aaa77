// Sums by currency and state: what a dry run, and a batch that has ended, come to.

import type { AmountUnit } from '../config/amount-unit.ts';
import { money, sayUnit } from './commissions-listings.ts';
import { renderTable } from './render-table.ts';

interface Counted {
  readonly state: string;
  readonly amount: number | null;
  readonly currency: string | null;
}

export interface StateTotal {
  readonly state: string;
  /** Null: of commissions whose currency is not known, such as those that the program does not have. */
  readonly currency: string | null;
  readonly commissions: number;
  /** As the program counts. */
  readonly amount: number | null;
}

/** Returns the sums, by currency and then in the order in which the states first appear. */
export function totalsByState(rows: readonly Counted[]): StateTotal[] {
  const groups = Map.groupBy(rows, ({ currency, state }) => `${currency?.toUpperCase() ?? '~'} ${state}`);
  return [...groups]
    .toSorted(([a], [b]) => (a.split(' ')[0] ?? '').localeCompare(b.split(' ')[0] ?? ''))
    .map(([, of]) => ({
      state: of[0]?.state ?? '',
      currency: of[0]?.currency?.toUpperCase() ?? null,
      commissions: of.length,
      amount: of[0]?.currency == null ? null : of.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
    }));
}

/** Returns the sums for people to read; the title is that of the states. */
export function renderStateTotals(totals: readonly StateTotal[], title: string, unit: AmountUnit): string {
  return renderTable(
    ['currency', title, 'commissions', 'amount'],
    totals.map(({ state, currency, commissions, amount }) => [
      currency,
      state,
      commissions,
      money(amount, currency, unit),
    ]),
  );
}

/** Returns the sums for programs; `key` is the name of the states. */
export function describeStateTotals(totals: readonly StateTotal[], key: string, unit: AmountUnit): object[] {
  return totals.map(({ state, ...rest }) => ({ [key]: state, ...sayUnit(rest, ['amount'], unit) }));
}
