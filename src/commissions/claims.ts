// Who works on which request. A claim is a lease: it ends by itself when its writer no longer says that it lives.
// Knows the table's order; refuses to know what is done with a claimed request.
//
// Only the oldest pending request of a commission can be claimed, so the requests for one commission apply in the
// order in which they were asked for, whatever the processes.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ClaimedUpdate } from './update-request.ts';

export interface Claimer {
  /** Names the writer; no two ever share a name. */
  readonly name: string;
  /** How long a claim holds without a sign of life. */
  readonly leaseMs: number;
}

/** Gives back up to `most` requests that are due, oldest first, now claimed. */
export async function claimUpdates(
  db: Database,
  { name, leaseMs }: Claimer,
  most: number,
): Promise<readonly ClaimedUpdate[]> {
  const { rows } = await sql<ClaimedUpdate>`
    with due as materialized (
      select request.id
      from commission_updates request
      where request.state = 'pending' and request.next_attempt_at <= clock_timestamp()
        and (request.claimed_until is null or request.claimed_until <= clock_timestamp())
        and not exists (
          select from commission_updates earlier
          where earlier.commission_id = request.commission_id and earlier.state = 'pending'
            and earlier.id < request.id
        )
      order by request.id
      limit ${most}
      for update skip locked
    )
    update commission_updates request
    set claimed_by = ${name}, claimed_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    from due where due.id = request.id
    returning request.id, request.commission_id, request.action, request.paid_at, request.due_at,
      request.expected_unpaid, request.expected_paid_at, request.expected_amount, request.expected_currency,
      request.reason, request.idempotency_key, request.supersede, request.even_if_refunded, request.attempts,
      request.put_sent_at
  `.execute(db);
  return rows.toSorted((a, b) => a.id - b.id);
}

/** Lets the claims hold for another lease. */
export async function extendClaims(
  db: Database,
  { name, leaseMs }: Claimer,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update commission_updates
    set claimed_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    where id = any(${ids}::bigint[]) and claimed_by = ${name} and state = 'pending'
  `.execute(db);
}

/** Gives the requests back untried, so that the next writer need not wait for the leases to end. */
export async function releaseClaims(db: Database, { name }: Claimer, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update commission_updates set claimed_by = null, claimed_until = null
    where id = any(${ids}::bigint[]) and claimed_by = ${name} and state = 'pending'
  `.execute(db);
}
