// How requests look: in the terminal, as CSV, as JSON.

import type { PreviewedUpdate } from '../../commissions/preview-updates.ts';
import type { Latest } from '../../commissions/requests/read-latest.ts';
import { BAD_STATES, UNMET_STATES, type UpdateRequest } from '../../commissions/update-request.ts';
import type { StateCounts } from '../../commissions/writer/await-updates.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { formatCount } from '../../contract/format.ts';
import { type Action, END_STATES, type UpdateState } from '../../contract/payment-request.ts';
import type { PaymentLine } from '../../reports/read-payment-ledger.ts';
import type { Listing } from '../output/format.ts';
import type { Cell, Money } from '../output/render-table.ts';

/** Returns the listing of lines of the payment ledger; `documentOf` makes the JSON document of them. */
export function paymentListing(
  rows: readonly PaymentLine[],
  unit: AmountUnit,
  documentOf: (requests: object[]) => object,
): Listing<PaymentLine> {
  return {
    rows,
    table: {
      request: ({ request }) => String(request),
      commission: ({ commission_id }) => commission_id,
      amount: ({ amount, currency }) => money(amount, currency, unit),
      asked: ({ asked }) => asked,
      state: ({ state }) => state,
      outcome: (row) => outcomeOf(row),
    },
    csv: sayUnit(PAYMENT_COLUMNS, ['amount'], unit),
    document: () => documentOf(rows.map((row) => sayUnit(row, ['amount'], unit))),
  };
}

const PAYMENT_COLUMNS = columnsOf<PaymentLine>(
  'request',
  'batch',
  'commission_id',
  'asked',
  'state',
  'outcome',
  'note',
  'reason',
  'requested_by',
  'requested_at',
  'finished_at',
  'amount',
  'currency',
  'paid_at_before',
  'paid_at_after',
  'due_at_before',
  'due_at_after',
  'affiliate_id',
  'affiliate_name',
  'affiliate_email',
  'puts',
  'action',
);

/** One row of a dry run. */
export interface PreviewRow {
  readonly line: number | null;
  readonly commission_id: string;
  readonly action: Action;
  readonly would: PreviewedUpdate['would'] | 'asked_before';
  readonly outcome: string;
  readonly note: string | null;
  readonly paid_at: string | null;
  readonly due_at: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
}

/** Returns the row of a dry run. */
export function previewRow(
  { request, would, outcome, note, live }: PreviewedUpdate,
  line: number | null,
): PreviewRow {
  return {
    line,
    commission_id: request.commission_id,
    action: request.action,
    would,
    outcome,
    note,
    paid_at: live?.paid_at ?? null,
    due_at: live?.due_at ?? null,
    amount: live?.amount ?? null,
    currency: live?.currency ?? null,
  };
}

/** Returns the row of a dry run for what was asked for before: it would do nothing. `now` is what the program has. */
export function repeatedRow(
  { line, request, hasOwnKey }: { line: number | null; request: UpdateRequest; hasOwnKey: boolean },
  earlier: Pick<PaymentLine, 'request' | 'state'>,
  { since, ...now }: Latest,
): PreviewRow {
  const { state } = earlier;
  return {
    line,
    commission_id: request.commission_id,
    action: request.action,
    would: 'asked_before',
    outcome: UNMET_STATES.includes(state)
      ? `request ${earlier.request} asked for this before and ended as ${state}: ${describeWayOn(earlier.request, state, hasOwnKey)}`
      : [
          `request ${earlier.request} asked for this before (${state})`,
          since,
          // What waits is not asked for once more.
          state === 'pending' ? null : askAnew(hasOwnKey),
        ]
          .filter((word) => word !== null)
          .join('; '),
    note: null,
    ...now,
  };
}

/** Returns how a row is asked for once more. */
export function askAnew(hasOwnKey: boolean): string {
  return hasOwnKey ? 'another idempotency_key asks anew' : '--again asks anew';
}

/** Returns what to do about a request that ended in a state in which the program was not given what was asked for. */
export function describeWayOn(request: number, state: UpdateState, hasOwnKey: boolean): string {
  return state === 'failed' ? `affiliate-mirror commissions retry ${request}` : askAnew(hasOwnKey);
}

/** Returns the listing of a dry run; `documentOf` makes the JSON document of its rows. */
export function previewListing(
  rows: readonly PreviewRow[],
  unit: AmountUnit,
  documentOf: (rows: object[]) => object,
): Listing<PreviewRow> {
  return {
    rows,
    table: {
      ...(rows.some(({ line }) => line !== null) && {
        line: ({ line }) => (line === null ? null : String(line)),
      }),
      commission: ({ commission_id }) => commission_id,
      amount: ({ amount, currency }) => money(amount, currency, unit),
      would: ({ would }) => would,
      outcome: (row) => outcomeOf(row),
    },
    csv: sayUnit(PREVIEW_COLUMNS, ['amount'], unit),
    document: () => documentOf(rows.map((row) => sayUnit(row, ['amount'], unit))),
  };
}

const PREVIEW_COLUMNS = columnsOf<PreviewRow>(
  'line',
  'commission_id',
  'action',
  'would',
  'outcome',
  'note',
  'paid_at',
  'due_at',
  'amount',
  'currency',
);

/** Returns what became of the row, with its note. */
export function outcomeOf({ outcome, note }: { outcome: string; note: string | null }): string {
  return note === null ? outcome : `${outcome}; ${note}`;
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

/** Returns whether somebody has to look at one of them. */
export function hasBadEnd(counts: StateCounts): boolean {
  return BAD_STATES.some((state) => counts[state] !== undefined);
}

/** Returns the columns that are fields of the row. */
export function columnsOf<Row extends { readonly [K in keyof Row]: Row[K] }>(
  ...names: readonly (keyof Row & string)[]
): Record<string, (row: Row) => Cell> {
  return Object.fromEntries(
    names.map((name) => [name, (row: Row) => (row[name] === undefined ? null : (row[name] as Cell))]),
  );
}

/** Returns the amount for people to read; null where it is not known. */
export function money(
  amount: number | bigint | null,
  currency: string | null,
  unit: AmountUnit,
): Money | null {
  return amount === null ? null : { amount, currency, unit };
}

/** Returns the record for programs, its amounts under names that say their unit: amount becomes amount_minor. */
export function sayUnit<T>(
  record: Readonly<Record<string, T>> | object,
  names: readonly string[],
  unit: AmountUnit,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [names.includes(name) ? `${name}_${unit}` : name, value]),
  );
}
