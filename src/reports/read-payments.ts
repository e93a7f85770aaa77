// Where the payments are: how many requests are in each state, the last batches, and what nobody works on.

import { sql } from 'kysely';
import { type BatchLine, readBatches } from '../commissions/read-payment-ledger.ts';
import type { UpdateState } from '../commissions/update-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';

export interface PaymentStatus {
  readonly states: readonly { readonly state: UpdateState; readonly requests: number }[];
  /** Requests that ended as failed, and whose commission has no newer request. */
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
/** A worker takes up what is due within seconds; a claim of one that was killed ends within a minute. */
const NEGLECTED_MINUTES = 5;

/** Returns the payments at this moment. */
export async function readPayments(db: Database): Promise<PaymentStatus> {
  const { rows } = await sql<Omit<PaymentStatus, 'last_batches'>>`
    select coalesce(states.states, '[]') as states, failed.*, neglected.*
    from (
      select jsonb_agg(jsonb_build_object('state', state, 'requests', requests) order by state) as states
      from (select state, count(*) as requests from commission_updates group by state) by_state
    ) states
    cross join (
      select count(*) as failed, min(finished_at) as failed_since from commission_updates u
      where state = 'failed' and not exists (
        select from commission_updates newer where newer.commission_id = u.commission_id and newer.id > u.id)
    ) failed
    cross join (
      select count(*) as neglected, min(next_attempt_at) as neglected_since from commission_updates u
      where state = 'pending' and next_attempt_at < clock_timestamp() - make_interval(mins => ${NEGLECTED_MINUTES})
        and not exists (
          select from commission_updates older
          where older.commission_id = u.commission_id and older.state = 'pending' and older.id < u.id)
        and not exists (
          select from commission_updates claimed
          where claimed.state = 'pending' and claimed.claimed_until > clock_timestamp())
    ) neglected
  `.execute(db);
  const row = rows[0];
  if (row === undefined) throw new TypeError('a count returned no row');
  return { ...row, last_batches: await readBatches(db, LAST_BATCHES) };
}
