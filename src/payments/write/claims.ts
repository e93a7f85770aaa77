// A claim is the right of a writer to work on a request for a limited time: it ends by itself unless it is extended.
//
// Only the oldest pending request of a commission or a payout can be claimed, so the requests for one apply in the
// order in which they were asked for, in any number of processes. A commission that a payout is paying waits for that:
// a payout is announced with its commissions and looks for waiting requests afterwards (try-payout.ts), so of the two
// ways to pay a commission at least one sees the other.
//
// The database's clock decides when a claim ends. Its writer notes a time that is earlier than that end, by a clock
// that goes on while the process or the machine is suspended: a writer that was stopped knows, without asking, that
// its claim may have ended. It does not claim a request again that it still works on: settling the first try would undo
// the notes of the second one, above all that a PUT was sent.
//
// A request that the database lets no writer claim (an administrator's constraint that its row does not meet) stays
// pending and holds up no other.

import { uptime } from 'node:os';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { isOfTheRow } from '../../db/database-errors.ts';
import type { Claimed } from '../update-request.ts';

export interface Claimer {
  /** The writer's name, unique. */
  readonly name: string;
  readonly claimMs: number;
  /** Called once for every due request that the database does not let be claimed. */
  readonly onRefused: (id: number, error: Error) => void;
}

/** The share of a claim's time that must be left for a request to be sent: sending takes far less. */
const LEAST_LEFT = 0.1;

export interface Claims {
  /**
   * Claims and returns up to `most` due requests, oldest first; none if no further one can be claimed. A request that
   * this writer claimed before is not among them until it is released or forgotten.
   *
   * Throws: the database's errors, but for refusals of single rows.
   */
  claim(most: number): Promise<readonly Claimed[]>;
  /**
   * Lets every claim hold for another `claimMs` from now, unless it has ended: then its writer was stopped, and its
   * reading of the commission is as old as that.
   */
  extend(): Promise<void>;
  /** Returns whether the claim holds, for long enough to send a request. */
  hasTimeLeft(id: number): boolean;
  /** Ends the claims of requests that were not tried, so that the next writer need not wait for their end. */
  release(ids: readonly number[]): Promise<void>;
  /** Forgets a request that is settled. */
  forget(id: number): void;
}

/** Returns the claims of one writer, none at first. */
export function makeClaims(db: Database, claimer: Claimer): Claims {
  /** By request: until when the claim surely holds, in seconds of the system's uptime. */
  const heldUntil = new Map<number, number>();
  const refused = new Set<number>();
  async function claimDue(most: number): Promise<readonly Claimed[]> {
    for (;;) {
      const others = sql`request.id <> all(${[...heldUntil.keys(), ...refused]}::bigint[])`;
      try {
        return await claimUpdates(db, claimer, most, others);
      } catch (error) {
        if (!isOfTheRow(error)) throw error;
      }
      const { rows } = await sql<{ id: number }>`${selectDue(most, others)}`.execute(db);
      const claimed: Claimed[] = [];
      for (const { id } of rows) {
        try {
          claimed.push(...(await claimUpdates(db, claimer, 1, sql`request.id = ${id}`)));
        } catch (error) {
          if (!isOfTheRow(error)) throw error;
          refused.add(id);
          claimer.onRefused(id, error);
        }
      }
      // If none of these could be claimed, further ones are.
      if (claimed.length > 0) return claimed;
    }
  }
  const claimSeconds = claimer.claimMs / 1000;
  const extended = sql`claimed_until = clock_timestamp() + make_interval(secs => ${claimSeconds})`;
  const released = sql`claimed_by = null, claimed_until = null`;
  // Counted from before the query: the database counts from a little later.
  const endFromNow = () => uptime() + claimSeconds;
  return {
    async claim(most) {
      const until = endFromNow();
      const updates = await claimDue(most);
      for (const { id } of updates) heldUntil.set(id, until);
      return updates;
    },
    async extend() {
      const now = uptime();
      const ids = [...heldUntil].flatMap(([id, until]) => (until > now ? [id] : []));
      if (ids.length === 0) return;
      const until = endFromNow();
      for (const { id } of await updateOurs(db, claimer, ids, extended)) {
        // Not a request that was settled meanwhile.
        if (heldUntil.has(id)) heldUntil.set(id, until);
      }
    },
    hasTimeLeft: (id) => (heldUntil.get(id) ?? 0) - uptime() > claimSeconds * LEAST_LEFT,
    async release(ids) {
      for (const id of ids) heldUntil.delete(id);
      if (ids.length > 0) await updateOurs(db, claimer, ids, released);
    },
    forget: (id) => void heldUntil.delete(id),
  };
}

/**
 * Selects up to `most` requests that are due and for which the condition holds, oldest first, and locks them one by
 * one, as many as are needed: another writer may have claimed one meanwhile.
 */
function selectDue(most: number, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select due.id
    from (${OLDEST} and ${condition} order by id) oldest
    cross join lateral (
      select request.id from commission_updates request
      where request.id = oldest.id and request.state = 'pending' and ${IS_FREE} and ${WAITS_FOR_NO_PAYOUT}
      for no key update skip locked
    ) due
    limit ${most}`;
}

/** A condition on a pending request: no writer has it, and its time has come. */
const IS_FREE = sql`
  request.next_attempt_at <= clock_timestamp()
  and (request.claimed_until is null or request.claimed_until <= clock_timestamp())`;

const WAITS_FOR_NO_PAYOUT = sql`
  (request.action = 'due' or request.commission_id is null or payout_under_way(request.commission_id) is null)`;

/**
 * Selects the free ones among the oldest pending requests of each commission and payout. A window function, since it
 * reads each pending request once even if the planner has no statistics; `not exists` compared every two of a new
 * batch (measured with 10,000: a claim took 24 s instead of 25 ms).
 */
const OLDEST = sql`
  select id, action, commission_id
  from (
    select *, row_number() over (partition by coalesce(commission_id, payout_id) order by id) as place
    from commission_updates
    where state = 'pending'
  ) request
  where place = 1 and ${IS_FREE}`;

/** Returns whether a request can be claimed. */
export async function hasDueUpdates(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from (${OLDEST}) request where ${WAITS_FOR_NO_PAYOUT} limit 1
  `.execute(db);
  return rows.length > 0;
}

async function claimUpdates(
  db: Database,
  { name, claimMs }: Claimer,
  most: number,
  condition: RawBuilder<unknown>,
): Promise<readonly Claimed[]> {
  const { rows } = await sql<Claimed>`
    with due as materialized (${selectDue(most, condition)})
    update commission_updates request
    set claimed_by = ${name}, claimed_until = clock_timestamp() + make_interval(secs => ${claimMs / 1000})
    from due where due.id = request.id
    returning request.id, request.commission_id, request.payout_id, request.action, request.paid_at, request.due_at,
      request.expected_unpaid, request.expected_paid_at, request.expected_amount, request.expected_currency,
      request.expected_commissions, request.reason, request.idempotency_key, request.supersede, request.even_if_refunded, request.attempts,
      request.put_sent_at, request.before,
      extract(epoch from clock_timestamp() - coalesce(request.put_sent_at, request.requested_at))::float8 * 1000 as waited_ms,
      (select _observed_at from payouts where id = request.payout_id) as mirrored_at
  `.execute(db);
  return rows.toSorted((a, b) => a.id - b.id);
}

/**
 * Locks those of the requests that the writer still has, and selects their ids. In order, as every statement that locks
 * several requests: otherwise two transactions could wait for each other. `no key`, for the same reason: the lines of
 * commission_update_attempts refer to a request by its key, and a writer that lost a request still adds its lines.
 */
export function lockOurs(claimedBy: string, ids: readonly number[]): RawBuilder<unknown> {
  return sql`
    select id from commission_updates
    where id = any(${ids}::bigint[]) and claimed_by = ${claimedBy} and state = 'pending'
    order by id
    for no key update`;
}

/** Sets the claims of those requests that are still this writer's, and returns them. */
async function updateOurs(
  db: Database,
  { name }: Claimer,
  ids: readonly number[],
  claim: RawBuilder<unknown>,
): Promise<readonly { readonly id: number }[]> {
  const { rows } = await sql<{ id: number }>`
    with ours as materialized (${lockOurs(name, ids)})
    update commission_updates request set ${claim}
    from ours where ours.id = request.id
    returning request.id
  `.execute(db);
  return rows;
}
