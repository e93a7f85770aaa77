// Who works on which request. A claim is the right to do so for a limited time: it ends by itself unless its writer
// extends it.
//
// Only the oldest pending request of a commission can be claimed, so the requests for one commission apply in the
// order in which they were asked for, whatever the processes.
//
// The database's clock decides when a claim ends. Its writer notes a time that is earlier than that end, by a clock
// that goes on while the process or the machine is suspended: a writer that was stopped knows, without asking, that
// its claim may have ended. It does not claim again what it still works on: settling the first try would undo what the
// second one noted, above all that a PUT was sent.
//
// A request that the database does not let anybody claim (an administrator's constraint that its row does not meet)
// stays pending and holds up no other.

import { uptime } from 'node:os';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { isOfTheRow } from '../../db/refusal.ts';
import { writeTogether } from '../group-writes.ts';
import type { ClaimedUpdate } from '../update-request.ts';

export interface Claimer {
  /** Names the writer; no two ever share a name. */
  readonly name: string;
  /** How long a claim holds unless it is extended. */
  readonly claimMs: number;
  /** Called once for every due request that the database does not let be claimed. */
  readonly onRefused: (id: number, error: Error) => void;
}

/** The share of a claim's time that must be left for a request to be sent: sending takes far less. */
const LEAST_LEFT = 0.1;

export interface Claims {
  /**
   * Returns up to `most` requests that are due, oldest first, now claimed. None, where no further one can be. A
   * request that this writer claimed before is not among them until it is released or forgotten.
   *
   * Throws: the database's errors, but for refusals of single rows.
   */
  claim(most: number): Promise<readonly ClaimedUpdate[]>;
  /**
   * Lets every claim hold for another `claimMs` from now, unless it has ended: then its writer was stopped, and what it
   * read of the commission is as old as that.
   */
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
  const refused = new Set<number>();
  const claimSeconds = claimer.claimMs / 1000;
  // Counted from before the query: the database counts from a little later.
  const endFromNow = () => uptime() + claimSeconds;
  return {
    async claim(most) {
      const until = endFromNow();
      const updates = await claimDue(db, claimer, most, [...heldUntil.keys()], refused);
      for (const { id } of updates) heldUntil.set(id, until);
      return updates;
    },
    async extend() {
      const now = uptime();
      const ids = [...heldUntil].flatMap(([id, until]) => (until > now ? [id] : []));
      if (ids.length === 0) return;
      const until = endFromNow();
      for (const id of await writeEach(ids, (some) => extendClaims(db, claimer, some))) {
        // Not one that was settled while this was under way.
        if (heldUntil.has(id)) heldUntil.set(id, until);
      }
    },
    hasTimeLeft: (id) => (heldUntil.get(id) ?? 0) - uptime() > claimSeconds * LEAST_LEFT,
    async release(ids) {
      for (const id of ids) heldUntil.delete(id);
      if (ids.length > 0) await writeEach(ids, (some) => releaseClaims(db, claimer, some));
    },
    forget: (id) => void heldUntil.delete(id),
  };
}

async function claimDue(
  db: Database,
  claimer: Claimer,
  most: number,
  held: readonly number[],
  refused: Set<number>,
): Promise<readonly ClaimedUpdate[]> {
  const others = () => sql`request.id <> all(${[...held, ...refused]}::bigint[])`;
  try {
    return await claimUpdates(db, claimer, most, others());
  } catch (error) {
    if (!isOfTheRow(error)) throw error;
  }
  // One of them is refused: each is claimed alone, and further ones where none of these could be.
  for (;;) {
    const claimed: ClaimedUpdate[] = [];
    const refusedBefore = refused.size;
    for (const id of await findDue(db, most, others())) {
      try {
        claimed.push(...(await claimUpdates(db, claimer, 1, sql`request.id = ${id}`)));
      } catch (error) {
        if (!isOfTheRow(error)) throw error;
        refused.add(id);
        claimer.onRefused(id, error);
      }
    }
    if (claimed.length > 0 || refused.size === refusedBefore) return claimed;
  }
}

/** Selects the requests that are due and for which the condition holds, oldest first. */
function selectDue(most: number, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select request.id
    from commission_updates request
    where ${IS_DUE} and ${condition}
    order by request.id
    limit ${most}`;
}

async function findDue(db: Database, most: number, condition: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`${selectDue(most, condition)}`.execute(db);
  return rows.map(({ id }) => id);
}

/** A condition on commission_updates as `request`: it can be claimed now. */
const IS_DUE = sql`
  request.state = 'pending'
  and request.next_attempt_at <= clock_timestamp()
  and (request.claimed_until is null or request.claimed_until <= clock_timestamp())
  and not exists (
    select from commission_updates earlier
    where earlier.commission_id = request.commission_id and earlier.state = 'pending' and earlier.id < request.id
  )`;

/** Returns whether there is anything to do for a drain. */
export async function hasDueUpdates(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from commission_updates request where ${IS_DUE} limit 1
  `.execute(db);
  return rows.length > 0;
}

async function claimUpdates(
  db: Database,
  { name, claimMs }: Claimer,
  most: number,
  condition: RawBuilder<unknown>,
): Promise<readonly ClaimedUpdate[]> {
  const { rows } = await sql<ClaimedUpdate>`
    with due as materialized (
      ${selectDue(most, condition)}
      for no key update skip locked
    )
    update commission_updates request
    set claimed_by = ${name}, claimed_until = clock_timestamp() + make_interval(secs => ${claimMs / 1000})
    from due where due.id = request.id
    returning request.id, request.commission_id, request.action, request.paid_at, request.due_at,
      request.expected_unpaid, request.expected_paid_at, request.expected_amount, request.expected_currency,
      request.reason, request.idempotency_key, request.supersede, request.even_if_refunded, request.attempts,
      request.put_sent_at, request.before
  `.execute(db);
  return rows.toSorted((a, b) => a.id - b.id);
}

/**
 * Locks those of the requests that the writer still has, and selects their ids. In order, like everyone who locks
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

/** Returns the requests that are still this writer's. */
async function extendClaims(
  db: Database,
  { name, claimMs }: Claimer,
  ids: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    with ours as materialized (${lockOurs(name, ids)})
    update commission_updates request
    set claimed_until = clock_timestamp() + make_interval(secs => ${claimMs / 1000})
    from ours where ours.id = request.id
    returning request.id
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns the requests that were this writer's until then. */
async function releaseClaims(
  db: Database,
  { name }: Claimer,
  ids: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    with ours as materialized (${lockOurs(name, ids)})
    update commission_updates request set claimed_by = null, claimed_until = null
    from ours where ours.id = request.id
    returning request.id
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns the requests that were written: together, or, where one of them is refused, all but that. */
async function writeEach(
  ids: readonly number[],
  write: (some: readonly number[]) => Promise<readonly number[]>,
): Promise<number[]> {
  const results = await writeTogether(async (some: readonly number[]) => {
    const written = new Set(await write(some));
    return some.map((id) => written.has(id));
  }, ids);
  return ids.filter((_, index) => {
    const result = results[index];
    if (result?.status === 'rejected' && !isOfTheRow(result.reason)) throw result.reason;
    return result?.status === 'fulfilled' && result.value;
  });
}
