// How requests look: in the terminal, as CSV, as JSON.

import type { z } from 'zod';
import type { PreviewedUpdate } from '../../commissions/preview-updates.ts';
import { BAD_STATES, type UpdateRequest } from '../../commissions/update-request.ts';
import type { StateCounts } from '../../commissions/writer/await-updates.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { formatCount } from '../../contract/format.ts';
import { END_STATES, type UpdateState } from '../../contract/payment-request.ts';
import { type PaymentLine, paymentLine } from '../../reports/read-payment-ledger.ts';
import { sayUnit } from '../documents/amounts.ts';
import { type PreviewRow, previewRow } from '../documents/commissions.ts';
import type { Listing } from '../output/format.ts';
import type { Money, TableCell } from '../output/render-table.ts';
import { type AskedRow, describeEarlier, type Earlier, outcomeOf } from './asked.ts';

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
      outcome: outcomeOf,
    },
    ...recordsOf(paymentLine, ['amount'], unit),
    documentOf,
  };
}

/** Returns the row of a dry run. */
export function previewOf({ line }: AskedRow, previewed: PreviewedUpdate): PreviewRow {
  const { request, would, outcome, note, live } = previewed;
  const { paid_at = null, due_at = null, amount = null, currency = null } = live ?? {};
  return { ...idOf(line, request), would, outcome, note, paid_at, due_at, amount, currency };
}

/** Returns the row of a dry run for what was asked for before: it would do nothing. */
export function previewOfRepeated(row: AskedRow, earlier: Earlier): PreviewRow {
  const { paid_at = null, due_at = null, amount = null, currency = null } = earlier.now ?? {};
  const values = { note: null, paid_at, due_at, amount, currency };
  const outcome = describeEarlier(row, earlier).says;
  return { ...idOf(row.line, row.request), would: 'asked_before', outcome, ...values };
}

function idOf(line: number | null, { commission_id, action }: UpdateRequest) {
  return { line, commission_id, action };
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
      ...(rows.some(({ line }) => line !== null) && { line: lineOf }),
      commission: ({ commission_id }) => commission_id,
      amount: ({ amount, currency }) => money(amount, currency, unit),
      would: ({ would }) => would,
      outcome: outcomeOf,
    },
    ...recordsOf(previewRow, ['amount'], unit),
    documentOf,
  };
}

/** Returns the line as it is printed: a number that is not grouped. */
export function lineOf({ line }: { readonly line: number | null }): TableCell {
  return line === null ? null : String(line);
}

/** Returns what programs get of each row: the fields of the shape, whose amounts have names that say their unit. */
export function recordsOf(
  shape: z.ZodObject,
  amounts: readonly string[],
  unit: AmountUnit,
): Pick<Listing<object>, 'fields' | 'recordOf'> {
  return {
    fields: Object.keys(sayUnit(shape.shape, amounts, unit)),
    recordOf: (row) => sayUnit(row, amounts, unit),
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

/** Returns whether somebody has to look at one of them. */
export function hasBadEnd(counts: StateCounts): boolean {
  return BAD_STATES.some((state) => counts[state] !== undefined);
}

/** Returns the amount for people to read; null where it is not known. */
export function money(
  amount: number | bigint | null,
  currency: string | null,
  unit: AmountUnit,
): Money | null {
  return amount === null ? null : { amount, currency, unit };
}
