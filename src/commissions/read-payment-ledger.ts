// Reads the payment ledger: batches, single requests, the history of a commission. Changes nothing.

import { type RawBuilder, sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { Action, UpdateState } from './update-request.ts';

/** What a user may point at: everything, a batch, one request, or all requests for a commission. */
export type Selection =
  | { readonly kind: 'all' }
  | { readonly kind: 'batch'; readonly batchId: string }
  | { readonly kind: 'requests'; readonly ids: readonly number[] }
  | { readonly kind: 'commission'; readonly commissionId: string };

/** One line of the view commission_ledger. */
export interface PaymentLine {
  readonly request: number;
  readonly batch: string | null;
  readonly commission_id: string;
  readonly action: Action;
  readonly asked: string;
  readonly state: UpdateState;
  readonly outcome: string;
  readonly note: string | null;
  readonly reason: string | null;
  readonly requested_by: string;
  readonly requested_at: Timestamp;
  readonly finished_at: Timestamp | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly paid_at_before: Timestamp | null;
  readonly paid_at_after: Timestamp | null;
  readonly due_at_before: Timestamp | null;
  readonly due_at_after: Timestamp | null;
  readonly affiliate_id: string | null;
  readonly affiliate_name: string | null;
  readonly affiliate_email: string | null;
  readonly puts: number;
}

/** One batch: how many of its requests are in each state. */
export interface BatchLine {
  /** Null: the requests that belong to no batch. */
  readonly batch: string | null;
  readonly requests: number;
  readonly states: Readonly<Partial<Record<UpdateState, number>>>;
  /** Where several people did: `ann and others`. */
  readonly requested_by: string;
  readonly requested_at: Timestamp;
  readonly finished_at: Timestamp | null;
}

/**
 * Who asked for a batch, of the first and the last name of each of its states: of single requests, and of a batch that
 * was added to, several people may have asked.
 */
export const WHO_ASKED = sql`min(first_asked) || case when min(first_asked) <> max(last_asked) then ' and others' else '' end`;

/** Returns the selected lines, oldest first. */
export async function readPaymentLedger(db: Database, selection: Selection): Promise<PaymentLine[]> {
  const { rows } = await sql<PaymentLine>`
    select * from commission_ledger
    where request in (select id from commission_updates where ${isSelected(selection)})
    order by request
  `.execute(db);
  return rows;
}

/** Returns the newest batches, newest first. */
export async function readBatches(db: Database, most: number): Promise<BatchLine[]> {
  const { rows } = await sql<BatchLine>`
    select batch_id as batch, sum(requests)::bigint as requests, jsonb_object_agg(state, requests) as states,
           ${WHO_ASKED} as requested_by, min(requested_at) as requested_at,
           case when bool_and(state <> 'pending') then max(finished_at) end as finished_at
    from (
      select batch_id, state, count(*) as requests, min(requested_by) as first_asked,
             max(requested_by) as last_asked, min(requested_at) as requested_at,
             max(finished_at) as finished_at, max(id) as newest
      from commission_updates
      group by batch_id, state
    ) as by_state
    group by batch_id
    order by max(newest) desc
    limit ${most}
  `.execute(db);
  return rows;
}

/** Returns how many of the requests are in each state. */
export async function countStates(
  db: Database,
  ids: readonly number[],
): Promise<Partial<Record<UpdateState, number>>> {
  const { rows } = await sql<{ state: UpdateState; requests: number }>`
    select state, count(*) as requests from commission_updates where id = any(${ids}::bigint[]) group by state
  `.execute(db);
  return Object.fromEntries(rows.map(({ state, requests }) => [state, requests]));
}

/** Returns the condition on commission_updates that the selection means. */
export function isSelected(selection: Selection): RawBuilder<unknown> {
  switch (selection.kind) {
    case 'all':
      return sql`true`;
    case 'batch':
      return sql`batch_id = ${selection.batchId}`;
    case 'requests':
      return sql`id = any(${selection.ids}::bigint[])`;
    case 'commission':
      return sql`commission_id = ${selection.commissionId}`;
  }
}
