// How what is payable looks in the terminal: what is to be transferred, what is not and why, and what all of it covers.

import type { AmountUnit } from '../../config/amount-unit.ts';
import { counted, countedAre, formatCount, formatTimestamp } from '../../contract/format.ts';
import { addAmounts, formatMoney } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Balance, CommissionCoverage, PayableCommission } from '../../reports/read-payable.ts';
import { renderTable } from '../output/render-table.ts';
import { money } from './listings.ts';

export interface ShownPayable {
  readonly balances: readonly Balance[];
  readonly withheld: ReadonlyMap<string, number>;
  readonly before: Timestamp | null;
  readonly coverage: CommissionCoverage;
}

/** Returns the sums, who is not transferred to, what is left out, and what the answer covers: tables and lines. */
export function describePayable(
  { balances, withheld, before, coverage }: ShownPayable,
  unit: AmountUnit,
): string[] {
  const isTransferred = ({ obstacle }: Balance) => obstacle === null;
  const transferred = commissionsOf(balances.filter(isTransferred));
  const others = balances.filter((balance) => !isTransferred(balance));
  const count = commissionsOf(balances).length;
  const when = before === null ? 'by now' : `before ${formatTimestamp(before)}`;
  const unknown = countAffiliates(transferred.filter((of) => of.has_payout_address === null));
  return [
    ...(transferred.length === 0 ? [] : [renderTotals(transferred, unit)]),
    ...(others.length === 0 ? [] : [renderOthers(others, unit)]),
    `${count === 0 ? 'nothing is' : countedAre(count, 'commission')} payable ${when}`,
    ...[...withheld].map(([reason, of]) => `left out although due: ${formatCount(of)} (${reason})`),
    ...describeOthers(others, unit),
    ...(unknown === 0
      ? []
      : [`not known, as the mirror keeps none: payout addresses of ${counted(unknown, 'affiliate')}`]),
    describeCoverage(coverage),
  ];
}

/** Returns the balances that are to be transferred, as a table. */
export function renderTransfers(transfers: readonly Balance[], unit: AmountUnit): string {
  return renderTable(
    ['affiliate', 'payout address', 'currency', 'commissions', 'to transfer'],
    transfers.map((balance) => [
      balance.affiliate_name,
      balance.payout_email ?? (balance.wise_email && `${balance.wise_email} (Wise)`),
      balance.currency,
      balance.commissions.length,
      money(balance.amount, balance.currency, unit),
    ]),
  );
}

function renderOthers(others: readonly Balance[], unit: AmountUnit): string {
  return renderTable(
    ['affiliate', 'email', 'commissions', 'not to transfer', 'because'],
    others.map((balance) => [
      balance.affiliate_name,
      balance.affiliate_email,
      balance.commissions.length,
      money(balance.amount, balance.currency, unit),
      balance.obstacle,
    ]),
  );
}

function renderTotals(commissions: readonly PayableCommission[], unit: AmountUnit): string {
  return renderTable(
    ['currency', 'affiliates', 'commissions', 'to transfer'],
    byCurrency(commissions).map(([currency, of]) => [
      currency,
      countAffiliates(of),
      of.length,
      money(sum(of), currency, unit),
    ]),
  );
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

/** Returns, for each reason, who is not transferred to, and how much together. */
function describeOthers(others: readonly Balance[], unit: AmountUnit): string[] {
  return [...Map.groupBy(others, ({ obstacle }) => obstacle)].map(([obstacle, of]) => {
    const commissions = commissionsOf(of);
    const sums = byCurrency(commissions).map(([currency, some]) => formatMoney(sum(some), currency, unit));
    const who = counted(countAffiliates(commissions), 'affiliate');
    return `not to transfer, ${obstacle}: ${counted(commissions.length, 'commission')} of ${who}, ${sums.join(', ')}`;
  });
}

function describeCoverage({
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
      ? `covers all ${count} of the program ${moment}`
      : `covers ${count} of the program ${moment}, and not ${formatCount(not_stored)} that could not be stored (the table rejected_records)`;
  }
  const why = isListed
    ? 'they were never read whole ("affiliate-mirror sync commissions" does it)'
    : 'the program is not known to list them';
  const since = polled_as_of === null ? '' : `, each read since ${formatTimestamp(polled_as_of)}`;
  return `covers only the ${count} that the mirror knows${since}: ${why}`;
}
