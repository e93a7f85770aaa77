// Payment requests in the terminal, as CSV and as JSON.

import type { z } from 'zod';
import { formatCount, withLocalTimes } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import { END_STATES, type UpdateState } from '../../contract/payment-request.ts';
import { readableName } from '../../mirror/people/values.ts';
import type { AskedLine } from '../../payments/ask/ask-rows.ts';
import { isOvertaken, OVERTAKEN } from '../../payments/ask/earlier.ts';
import type { PreviewedRow } from '../../payments/preview-updates.ts';
import type { StateTotal } from '../../payments/totals-by-state.ts';
import { BAD_STATES } from '../../payments/update-request.ts';
import { outcomeOf } from '../../payments/update-words.ts';
import type { StateCounts } from '../../payments/write/await-updates.ts';
import { type PaymentLine, paymentLine } from '../../reports/read-payment-ledger.ts';
import { askedLine, nameAmounts, previewRow } from '../documents/commissions.ts';
import type { Listing } from '../output/format.ts';
import { renderTable, type TableCell } from '../output/render-table.ts';

/** Returns the listing of lines of the payment ledger; `documentOf` makes the JSON document of them. */
export function paymentListing(
  rows: readonly PaymentLine[],
  money: MoneyFormat,
  documentOf: (requests: object[]) => object,
): Listing<PaymentLine> {
  return {
    rows,
    table: {
      request: ({ request }) => String(request),
      [nameOfSubject(rows)]: subjectOf,
      ...affiliatesOf(rows),
      amount: ({ amount, currency }) => amountCell(amount, currency, money),
      asked: ({ asked }) => withLocalTimes(asked),
      state: ({ state }) => state,
      outcome: (row) => withLocalTimes(outcomeOf(row)),
    },
    ...recordsOf(paymentLine, ['amount'], money),
    documentOf,
  };
}

/** Returns the listing of the requests that answer rows, with the lines of these. */
export function askedListing(
  rows: readonly AskedLine[],
  money: MoneyFormat,
  documentOf: (requests: object[]) => object,
): Listing<AskedLine> {
  return {
    rows,
    table: { ...linesOf(rows), ...paymentListing(rows, money, documentOf).table, state: shownState },
    ...recordsOf(askedLine, ['amount'], money),
    documentOf,
  };
}

/** Returns the state for people, who are to see what is not of now: `applied before`, `overtaken`. */
export function shownState(line: Pick<AskedLine, 'state' | 'ended_before' | 'overtaken_by'>): string {
  if (isOvertaken(line)) return OVERTAKEN;
  return line.ended_before ? `${line.state} before` : line.state;
}

/** Returns such as `11 applied before, 1 overtaken`. */
export function describeShown(lines: readonly Parameters<typeof shownState>[0][]): string {
  return [...Map.groupBy(lines, shownState)]
    .map(([state, of]) => `${formatCount(of.length)} ${state}`)
    .join(', ');
}

/** Returns the number of requests whose change was sent since the rows were asked for. */
export function sentNow(lines: readonly AskedLine[]): number {
  return lines.filter(({ ended_before, puts }) => !ended_before && puts > 0).length;
}

/** Returns such as `2 sent now (2 applied, 1 conflict); 12 applied before`. */
export function describeSent(lines: readonly AskedLine[]): string {
  const now = lines.filter(({ ended_before }) => !ended_before);
  const words = describeShown(lines.filter(({ ended_before }) => ended_before));
  const sent = `${formatCount(sentNow(lines))} sent now`;
  const ends = now.length === 0 ? sent : `${sent} (${describeCounts(countStates(now))})`;
  return words === '' ? ends : `${ends}; ${words}`;
}

/** Returns the listing of a dry run; `documentOf` makes the JSON document of its rows. */
export function previewListing(
  rows: readonly PreviewedRow[],
  money: MoneyFormat,
  documentOf: (rows: object[]) => object,
): Listing<PreviewedRow> {
  return {
    rows,
    table: {
      ...linesOf(rows),
      [nameOfSubject(rows)]: subjectOf,
      ...affiliatesOf(rows),
      amount: ({ amount, currency }) => amountCell(amount, currency, money),
      would: ({ would }) => would,
      outcome: (row) => withLocalTimes(outcomeOf(row)),
    },
    ...recordsOf(previewRow, ['amount'], money),
    documentOf,
  };
}

/** Returns the column of the lines; none if the rows come from no file. */
function linesOf(rows: readonly { readonly line: number | null }[]) {
  return rows.some(({ line }) => line !== null) ? { line: lineOf } : {};
}

/** Returns the column of the affiliates' names; none if the mirror stores no names, or hashes of them. */
function affiliatesOf(rows: readonly { readonly affiliate_name: string | null }[]) {
  const affiliate = ({ affiliate_name }: (typeof rows)[number]) => readableName(affiliate_name);
  return rows.some((row) => affiliate(row) !== null) ? { affiliate } : {};
}

type Subject = Pick<PaymentLine, 'commission_id' | 'payout_id'>;

function nameOfSubject(rows: readonly Subject[]): string {
  if (rows.every(({ commission_id }) => commission_id !== null)) return 'commission';
  return rows.every(({ commission_id }) => commission_id === null) ? 'payout' : 'commission or payout';
}

function subjectOf({ commission_id, payout_id }: Subject): string | null {
  return commission_id ?? payout_id;
}

/** Returns the line as a number without grouping. */
export function lineOf({ line }: { readonly line: number | null }): TableCell {
  return line === null ? null : String(line);
}

/** Returns the fields of each row for programs. The names of amounts end in their unit. */
export function recordsOf(
  shape: z.ZodObject,
  amounts: readonly string[],
  money: MoneyFormat,
): Pick<Listing<object>, 'fields' | 'recordOf'> {
  return {
    fields: Object.keys(nameAmounts(shape.shape, amounts, money.unit)),
    recordOf: (row) => nameAmounts(row, amounts, money.unit),
  };
}

/** Returns the counts in words: `12 applied, 3 unchanged, 1 conflict`. */
export function describeCounts(counts: StateCounts): string {
  const parts = [...END_STATES, 'pending' as const].flatMap((state) => {
    const count = counts[state];
    return count === undefined ? [] : [`${formatCount(count)} ${state}`];
  });
  return parts.join(', ') || 'nothing';
}

/** Returns how many of the lines are in each state. */
export function countStates(lines: readonly PaymentLine[]): StateCounts {
  const counts: Partial<Record<UpdateState, number>> = {};
  for (const { state } of lines) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** Returns whether a person must look at one of them. */
export function hasBadEnd(counts: StateCounts): boolean {
  return BAD_STATES.some((state) => counts[state] !== undefined);
}

/** Returns the amount for people. */
export function amountCell(
  amount: number | bigint | null,
  currency: string | null,
  money: MoneyFormat,
): TableCell {
  return amount === null ? null : { figure: money.format(amount, currency) };
}

/** Returns the sums for people; the title is that of the states. */
export function renderStateTotals(totals: readonly StateTotal[], title: string, money: MoneyFormat): string {
  return renderTable(
    ['currency', 'action', title, 'requests', 'amount'],
    totals.map(({ state, currency, action, requests, amount }) => [
      currency,
      action,
      state,
      requests,
      amountCell(amount, currency, money),
    ]),
  );
}

/** Returns the sums for programs; `key` is the name of the states. */
export function describeStateTotals(
  totals: readonly StateTotal[],
  key: string,
  money: MoneyFormat,
): object[] {
  return totals.map(({ state, ...rest }) => ({ [key]: state, ...nameAmounts(rest, ['amount'], money.unit) }));
}
