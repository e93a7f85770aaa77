// Selects requests of the payment ledger: batches, single requests, all for a commission. Changes nothing.

import { type RawBuilder, sql } from 'kysely';
import { ConfigError } from '../base/errors.ts';
import { identifier } from '../contract/fields.ts';
import type { UpdateState } from '../contract/payment-request.ts';
import type { Database } from '../db/database.ts';
import { type PaymentLine, readPaymentLedger } from '../reports/read-payment-ledger.ts';

export type Selection =
  | { readonly kind: 'all' }
  | { readonly kind: 'batch'; readonly batchId: string }
  | { readonly kind: 'requests'; readonly ids: readonly number[] }
  | { readonly kind: 'commission'; readonly commissionId: string }
  | { readonly kind: 'payout'; readonly payoutId: string }
  /** The payouts that a commission was paid with. */
  | { readonly kind: 'payouts of'; readonly commissionId: string };

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
    case 'payout':
      return sql`payout_id = ${selection.payoutId}`;
    case 'payouts of':
      return sql`commission_ids @> array[${selection.commissionId}]`;
  }
}

export interface Selected {
  readonly selection: Selection;
  /** Never empty. */
  readonly lines: readonly PaymentLine[];
}

/**
 * Returns the selection that the user's word names: a request by its number, all for a commission by its identifier, or
 * a batch by its name. A user of SQL chooses that name; if it is equal to either of the others, the batch is not meant.
 *
 * Throws: ConfigError if the word names nothing. `group` is that of the commands which it names.
 */
export async function findSelected(db: Database, word: string, group: string): Promise<Selected> {
  for (const selection of meaningsOf(word.trim())) {
    const lines = await readPaymentLedger(db, isSelected(selection));
    if (lines.length > 0) return { selection, lines };
  }
  throw new ConfigError([
    `the payment ledger has no batch, request, commission or payout ${word}: "affiliate-mirror ${group} status" lists the batches`,
  ]);
}

function meaningsOf(text: string): readonly Selection[] {
  const batch: Selection = { kind: 'batch', batchId: text };
  if (/^\d{1,15}$/.test(text)) return [{ kind: 'requests', ids: [Number(text)] }, batch];
  if (!identifier.safeParse(text).success) return [batch];
  const id = text.toLowerCase();
  return [
    { kind: 'commission', commissionId: id },
    { kind: 'payout', payoutId: id },
    { kind: 'payouts of', commissionId: id },
    batch,
  ];
}
