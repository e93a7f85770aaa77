// Who works on which request. A claim is the right to do so for a limited time: it ends by itself unless its writer
// extends it.
//
// Only the oldest pending request of a commission can be claimed, so the requests for one commission apply in the
// order in which they were asked for, whatever the processes.
//
// The database's clock decides when a claim ends. Its writer notes a time that is earlier than that end, by a clock
// that goes on while the process or the machine is suspended: a writer that was stopped knows, without asking, that
// its claim may have ended.

import { uptime } from 'node:os';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ClaimedUpdate } from './update-request.ts';

export interface Claimer {
  /** Names the writer; no two ever share a name. */
  readonly name: string;
  /** How long a claim holds unless it is extended. */
  readonly leaseMs: number;
}

/** The share of a claim's time that must be left for a request to be sent: sending takes far less. */
const LEAST_LEFT = 0.1;

export interface Claims {
  /** Returns up to `most` requests that are due, oldest first, now claimed. */
  claim(most: number): Promise<readonly ClaimedUpdate[]>;
  /** Lets every claim hold for another `leaseMs` from now. */
  extend(): Promise<void>;
  /** Returns whether the claim holds, for long enough to send a request. */
  hasTimeLeft(id: number): boolean;
  /** Gives up the claims of requests that were not tried, so that the next writer need not wait for their end. */
  release(ids: readonly number[]): Promise<void>;
  /** Forgets a request that is settled. */
  forget(id: number): void;
}

/** Returns the claims of one writer, none at first. */
export function makeClaims(db: Database, claimer: Claimer): Claims {
  /** By request: until when the claim surely holds, in seconds of the system's uptime. */
  const heldUntil = new Map<number, number>();
  const leaseSeconds = claimer.leaseMs / 1000;
  // Counted from before the query: the database counts from a little later.
  const leaseFromNow = () => uptime() + leaseSeconds;
  return {
    async claim(most) {
      const until = leaseFromNow();
      const updates = await claimUpdates(db, claimer, most);
      for (const { id } of updates) heldUntil.set(id, until);
      return updates;
    },
    async extend() {
      const ids = [...heldUntil.keys()];
      if (ids.length === 0) return;
      const until = leaseFromNow();
      for (const id of await extendClaims(db, claimer, ids)) {
        // Not one that was settled while this was under way.
        if (heldUntil.has(id)) heldUntil.set(id, until);
      }
    },
    hasTimeLeft: (id) => (heldUntil.get(id) ?? 0) - uptime() > leaseSeconds * LEAST_LEFT,
    async release(ids) {
      for (const id of ids) heldUntil.delete(id);
      if (ids.length > 0) await releaseClaims(db, claimer, ids);
    },
    forget: (id) => void heldUntil.delete(id),
  };
}

async function claimUpdates(
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

/** Returns the requests that are still this writer's. */
async function extendClaims(
  db: Database,
  { name, leaseMs }: Claimer,
  ids: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    update commission_updates
    set claimed_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    where id = any(${ids}::bigint[]) and claimed_by = ${name} and state = 'pending'
    returning id
  `.execute(db);
  return rows.map(({ id }) => id);
}

async function releaseClaims(db: Database, { name }: Claimer, ids: readonly number[]): Promise<void> {
  await sql`
    update commission_updates set claimed_by = null, claimed_until = null
    where id = any(${ids}::bigint[]) and claimed_by = ${name} and state = 'pending'
  `.execute(db);
}
