// Where the payments are: how many requests are in each state, the last batches, and what nobody works on.

import { sql } from 'kysely';
import { type BatchLine, readBatches } from '../commissions/read-payment-ledger.ts';
import type { UpdateState } from '../commissions/update-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';

export interface PaymentStatus {
  readonly states: readonly { readonly state: UpdateState; readonly requests: number }[];
  /** Requests that ended as failed, without a newer one for the same value of their commission that was not dropped. */
  readonly failed: number;
  /** When the first of them failed. */
  readonly failed_since: Timestamp | null;
  /** Requests that are due for minutes, while no process works on any. */
  readonly neglected: number;
  /** Since when the first of them is due. */
  readonly neglected_since: Timestamp | null;
  /** Newest first. */
  readonly last_batches: readonly BatchLine[];
}

const LAST_BATCHES = 5;

interface StateLine {
  readonly state: UpdateState;
  readonly requests: number;
  readonly needing_attention: number;
  readonly needing_attention_since: Timestamp | null;
}

/** Returns the payments at this moment. */
export async function readPayments(db: Database): Promise<PaymentStatus> {
  const { rows } = await sql<StateLine>`
    select state, requests, needing_attention, needing_attention_since from payment_states order by state
  `.execute(db);
  const [failed, pending] = (['failed', 'pending'] as const).map((name) =>
    rows.find(({ state }) => state === name),
  );
  return {
    states: rows.map(({ state, requests }) => ({ state, requests })),
    failed: failed?.needing_attention ?? 0,
    failed_since: failed?.needing_attention_since ?? null,
    neglected: pending?.needing_attention ?? 0,
    neglected_since: pending?.needing_attention_since ?? null,
    last_batches: await readBatches(db, LAST_BATCHES),
  };
}
