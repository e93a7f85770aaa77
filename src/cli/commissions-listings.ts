// How requests look: in the terminal, as CSV, as JSON.

import type { StateCounts } from '../commissions/await-updates.ts';
import type { PreviewedUpdate } from '../commissions/preview-updates.ts';
import type { LedgerLine } from '../commissions/read-ledger.ts';
import { BAD_STATES, END_STATES, type UpdateRequest } from '../commissions/update-request.ts';
import { formatCount } from './format.ts';
import type { Listing } from './output-format.ts';
import type { Cell } from './render-table.ts';

/** Returns the listing of lines of the payment ledger. */
export function ledgerListing(
  rows: readonly LedgerLine[],
  more: Readonly<Record<string, unknown>> = {},
): Listing<LedgerLine> {
  return {
    name: 'requests',
    rows,
    more,
    table: {
      request: ({ request }) => String(request),
      commission: ({ commission_id }) => commission_id,
      amount: ({ amount, currency }) => money(amount, currency),
      asked: ({ asked }) => asked,
      state: ({ state }) => state,
    },
    remark: ({ request, state, outcome, note }) => {
      if (state === 'applied' && note === null) return null;
      return `request ${request} ${state}: ${note === null ? outcome : `${outcome} (${note})`}`;
    },
    csv: columnsOf<LedgerLine>(
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
    ),
  };
}

/** One row of a dry run. */
export interface PreviewRow {
  readonly line: number | null;
  readonly commission_id: string;
  readonly action: string;
  readonly would: string;
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

/** Returns the row of a dry run for what was asked for before: it would do nothing. */
export function repeatedRow(
  { line, request, hasOwnKey }: { line: number | null; request: UpdateRequest; hasOwnKey: boolean },
  earlier: { readonly id: number; readonly state: string },
): PreviewRow {
  const { commission_id, action } = request;
  const outcome = `request ${earlier.id} asked for this before (${earlier.state}); ${askAnew(hasOwnKey)}`;
  const nothing = { note: null, paid_at: null, due_at: null, amount: null, currency: null };
  return { line, commission_id, action, would: 'asked_before', outcome, ...nothing };
}

/** Returns how a row is asked for once more. */
export function askAnew(hasOwnKey: boolean): string {
  return hasOwnKey ? 'another idempotency_key asks anew' : '--again asks anew';
}

/** Returns the listing of a dry run. */
export function previewListing(rows: readonly PreviewRow[]): Listing<PreviewRow> {
  return {
    name: 'rows',
    rows,
    more: { dry_run: true },
    table: {
      ...(rows.some(({ line }) => line !== null) && {
        line: ({ line }) => (line === null ? null : String(line)),
      }),
      commission: ({ commission_id }) => commission_id,
      amount: ({ amount, currency }) => money(amount, currency),
      would: ({ would }) => would,
      outcome: ({ would, outcome }) => (would === 'change' ? outcome : null),
    },
    remark: ({ line, commission_id, would, outcome, note }) => {
      if (would === 'change' && note === null) return null;
      const place = line === null ? commission_id : `line ${line}`;
      return `${place} ${would}: ${note === null ? outcome : `${outcome} (${note})`}`;
    },
    csv: columnsOf<PreviewRow>(
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
    ),
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

function money(amount: number | null, currency: string | null): string | null {
  return amount === null ? null : `${formatCount(amount)} ${currency ?? ''}`.trim();
}
