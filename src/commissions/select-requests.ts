// Points at requests of the payment ledger: batches, single requests, all for a commission. Changes nothing.

import { type RawBuilder, sql } from 'kysely';
import type { UpdateState } from '../contract/payment-request.ts';
import type { Database } from '../db/database.ts';

/** What a user may point at: everything, a batch, one request, or all requests for a commission. */
export type Selection =
  | { readonly kind: 'all' }
  | { readonly kind: 'batch'; readonly batchId: string }
  | { readonly kind: 'requests'; readonly ids: readonly number[] }
  | { readonly kind: 'commission'; readonly commissionId: string };

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
