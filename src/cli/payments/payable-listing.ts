// The payable commissions in the terminal: to transfer, not to transfer and why, and how much of the API is covered.

import { counted, countedAre, formatCount, formatTimestamp } from '../../contract/format.ts';
import { addAmounts, type MoneyFormat } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Balance, CommissionCoverage, PayableCommission } from '../../reports/read-payable.ts';
import { renderTable } from '../output/render-table.ts';
import { amountCell } from './listings.ts';

export interface ShownPayable {
  readonly balances: readonly Balance[];
  readonly withheld: ReadonlyMap<string, number>;
  readonly before: Timestamp | null;
  readonly coverage: CommissionCoverage;
}

/** Returns the tables and lines: the sums, the affiliates without a transfer, the left out, and the coverage. */
export function describePayable(
  { balances, withheld, before, coverage }: ShownPayable,
  money: MoneyFormat,
): string[] {
  const isTransferred = ({ obstacle }: Balance) => obstacle === null;
  const transferred = commissionsOf(balances.filter(isTransferred));
  const others = balances.filter((balance) => !isTransferred(balance));
  const count = commissionsOf(balances).length;
  const when = before === null ? 'by now' : `before ${formatTimestamp(before)}`;
  const unknown = countAffiliates(transferred.filter((of) => of.has_payout_address === null));
  return [
    ...(transferred.length === 0 ? [] : [renderTotals(transferred, money)]),
    ...(others.length === 0 ? [] : [renderOthers(others, money)]),
    `${count === 0 ? 'nothing is' : countedAre(count, 'commission')} payable ${when}`,
    ...describeCovered(balances, money),
    ...[...withheld].map(([reason, of]) => `left out although due: ${formatCount(of)} (${reason})`),
    ...(unknown === 0
      ? []
      : [`not known, as the mirror keeps none: payout addresses of ${counted(unknown, 'affiliate')}`]),
    describeCoverage(coverage),
  ];
}

function describeCovered(balances: readonly Balance[], money: MoneyFormat): string[] {
  const inPayouts = commissionsOf(balances).filter(({ payout_id }) => payout_id !== null);
  return byCurrency(inPayouts).map(([currency, of]) => {
    const payouts = new Set(of.map(({ payout_id }) => payout_id)).size;
    return `of these ${counted(payouts, 'payout')} of the affiliate program ${payouts === 1 ? 'covers' : 'cover'} ${counted(of.length, 'commission')}: ${money.format(sum(of), currency)} ("affiliate-mirror payouts list" shows them; pay them one way only)`;
  });
}

/** Returns the balances that are to be transferred, as a table. */
export function renderTransfers(transfers: readonly Balance[], money: MoneyFormat): string {
  return renderTable(
    ['affiliate', 'payout address', 'currency', 'commissions', 'to transfer'],
    transfers.map((balance) => [
      balance.affiliate_name,
      balance.payout_email ?? (balance.wise_email && `${balance.wise_email} (Wise)`),
      balance.currency,
      balance.commissions.length,
      amountCell(balance.amount, balance.currency, money),
    ]),
  );
}

function renderOthers(others: readonly Balance[], money: MoneyFormat): string {
  return renderTable(
    ['affiliate', 'email', 'commissions', 'not to transfer', 'because'],
    others.map((balance) => [
      balance.affiliate_name,
      balance.affiliate_email,
      balance.commissions.length,
      amountCell(balance.amount, balance.currency, money),
      balance.obstacle,
    ]),
  );
}

function renderTotals(commissions: readonly PayableCommission[], money: MoneyFormat): string {
  return renderTable(
    ['currency', 'affiliates', 'commissions', 'to transfer'],
    byCurrency(commissions).map(([currency, of]) => [
      currency,
      countAffiliates(of),
      of.length,
      amountCell(sum(of), currency, money),
    ]),
  );
}

/** Returns the number of rows and their sums, such as `3 rows: 83.95 EUR, 5,980 JPY`. */
export function describeSums(commissions: readonly PayableCommission[], money: MoneyFormat): string {
  const sums = byCurrency(commissions).map(([currency, of]) => money.format(sum(of), currency));
  return [counted(commissions.length, 'row'), ...(sums.length === 0 ? [] : [sums.join(', ')])].join(': ');
}

function byCurrency(commissions: readonly PayableCommission[]): [string, PayableCommission[]][] {
  const groups = Map.groupBy(commissions, ({ currency }) => currency);
  return [...groups].toSorted(([a], [b]) => a.localeCompare(b));
}

function countAffiliates(commissions: readonly PayableCommission[]): number {
  return new Set(commissions.map(({ affiliate_id }) => affiliate_id)).size;
}

function commissionsOf(balances: readonly Balance[]): PayableCommission[] {
  return balances.flatMap(({ commissions }) => commissions);
}

function sum(commissions: readonly PayableCommission[]): bigint {
  return addAmounts(commissions.map(({ amount }) => amount));
}

/** Returns which commissions of the affiliate program the mirror has, and as of when. */
export function describeCoverage({
  known,
  isListed,
  everything_as_of,
  changes_as_of,
  polled_as_of,
  not_stored,
}: CommissionCoverage): string {
  const count = counted(known, 'commission');
  if (everything_as_of !== null && changes_as_of !== null) {
    const changes =
      changes_as_of === everything_as_of ? '' : `, with changes as of ${formatTimestamp(changes_as_of)}`;
    const moment = `as of ${formatTimestamp(everything_as_of)}${changes}`;
    return not_stored === 0
      ? `covers all ${count} of the affiliate program ${moment}`
      : `covers ${count} of the affiliate program ${moment}, and not ${formatCount(not_stored)} that could not be stored (the table rejected_records)`;
  }
  const why = isListed
    ? 'they were never read whole ("affiliate-mirror sync commissions" does it)'
    : 'the API is not known to list them';
  const since = polled_as_of === null ? '' : `, each read since ${formatTimestamp(polled_as_of)}`;
  return `covers only the ${count} that the mirror knows${since}: ${why}`;
}
