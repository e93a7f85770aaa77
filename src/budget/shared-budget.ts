// The account's request budget, shared by every process on the mirror's database. Exact: the program never sees more
// than the limit in any window, whatever the processes and the latency. Knows SQL and slots; sends no request.
//
// Why it is exact. The program counts a request at some moment between its sending and its answer. A slot therefore
// counts from the moment that it is granted until one window after its answer: two requests that share a window at
// the program always share one here. The price is the latency of a request per window, a fraction of a percent.
// A process that dies with a slot in flight cannot give it back: that slot expires by itself after the longest
// time that a request may take, and one window. The clock is the database's own; those of the machines do not matter.
// Rejected: fixed windows and token buckets (both let up to twice the limit through at a boundary); BullMQ's limiter
// (it counts jobs, not requests, and per queue).

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AnsweredLimits, Instant, Slot, TakeSlot } from '../api/slot.ts';
import type { RateLimit } from '../config.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import type { Lane } from './lane.ts';
import { makeUnlimitedSlots, type TakenSlot } from './unlimited-slots.ts';

/** While a writer waits, readers keep this share of the limit, so that a batch never stops the mirror. */
const READER_FLOOR = 0.2;
/** A waiting writer says so again at least this often; one that died is forgotten after it. */
const WRITER_WAIT_MS = 1000;
/** In-flight slots have no known end: whoever waits for one looks again after this. */
const LONGEST_NAP_MS = 250;
/** Expired slots are kept a little: an answer on its way may still count their requests (see `learn`). */
const KEPT_EXPIRED_MS = 60_000;
/** A 429 whose headers name no moment pauses everybody this long where no window is configured. */
const DEFAULT_PAUSE_MS = 30_000;

export interface BudgetDeps {
  readonly db: Database;
}

export interface BudgetOptions {
  readonly rateLimit: RateLimit;
  readonly lane: Lane;
  /** The longest that one request may take, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/**
 * Gives back the function that grants slots in one lane. It waits for as long as the budget demands.
 *
 * Throws (from that function): the signal's reason when aborted; the database's errors.
 * Source of the limit itself: seen in the wild (45 requests per 30 seconds, may be lowered at any time).
 */
export function makeTakeSlot(
  { db }: BudgetDeps,
  { rateLimit, lane, requestTimeoutMs }: BudgetOptions,
): TakeSlot {
  const take =
    rateLimit === null
      ? makeUnlimitedSlots({ db, noteThrottled: (at, limits) => learn(db, null, at, limits) }, { lane })
      : () => askForSlot(db, { rateLimit, lane, requestTimeoutMs });

  return async (signal) => {
    for (;;) {
      signal?.throwIfAborted();
      const answer = await take();
      if ('slot' in answer) return answer.slot;
      await sleep(answer.waitMs, undefined, { ...(signal && { signal }) }).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw error;
      });
    }
  };
}

interface Limited {
  readonly rateLimit: NonNullable<RateLimit>;
  readonly lane: Lane;
  readonly requestTimeoutMs: number;
}

interface GrantedSlot {
  readonly id: number;
  readonly grantedAt: Instant;
}

async function askForSlot(db: Database, options: Limited): Promise<TakenSlot> {
  const answer = await db.transaction().execute((trx) => ask(trx, options));
  if ('waitMs' in answer) return answer;
  const { grantedAt } = answer;
  const release: Slot['release'] = (limits) =>
    db.transaction().execute((trx) => give(trx, options.rateLimit, answer, limits));
  return { slot: { grantedAt, release } };
}

async function ask(
  trx: DatabaseTransaction,
  options: Limited,
): Promise<GrantedSlot | { readonly waitMs: number }> {
  const { rateLimit, lane } = options;
  const pause = await readPause(trx);
  if (pause.waitMs > 0) return { waitMs: pause.waitMs };
  const usage = await readUsage(trx, rateLimit.requests);
  const floor = Math.max(1, Math.floor(usage.limit * READER_FLOOR));
  const stepsBack = lane === 'reader' && pause.writerWaits && usage.readers >= floor;
  if (usage.free > 0 && !stepsBack) {
    const holdSeconds = rateLimit.windowSeconds + options.requestTimeoutMs / 1000;
    const { rows } = await sql<{ id: number; granted_at: Instant }>`
      insert into request_slots (lane, granted_at, expires_at)
      select ${lane}, moment, moment + make_interval(secs => ${holdSeconds})
      from clock_timestamp() as moment
      returning id, granted_at
    `.execute(trx);
    const row = rows[0];
    if (row === undefined) throw new TypeError('an insert gave back no row');
    return { id: row.id, grantedAt: row.granted_at };
  }
  if (lane === 'writer') {
    await sql`
      update request_budget
      set writer_waits_until = clock_timestamp() + make_interval(secs => ${WRITER_WAIT_MS / 1000})
    `.execute(trx);
  }
  return { waitMs: Math.max(1, Math.min(usage.nextFreeMs, LONGEST_NAP_MS)) };
}

// The row lock makes the processes take turns.
async function readPause(trx: DatabaseTransaction): Promise<{ waitMs: number; writerWaits: boolean }> {
  const { rows } = await sql<{ wait_ms: number; writer_waits: boolean }>`
    select ceil(greatest(0, coalesce(extract(epoch from paused_until - clock_timestamp()) * 1000, 0)))::int as wait_ms,
      coalesce(writer_waits_until > clock_timestamp(), false) as writer_waits
    from request_budget for update
  `.execute(trx);
  const row = rows[0];
  if (row === undefined) throw new TypeError('request_budget has lost its one row');
  return { waitMs: row.wait_ms, writerWaits: row.writer_waits };
}

interface Usage {
  readonly limit: number;
  readonly free: number;
  readonly readers: number;
  readonly nextFreeMs: number;
}

async function readUsage(trx: DatabaseTransaction, configuredLimit: number): Promise<Usage> {
  await sql`
    delete from request_slots where expires_at <= clock_timestamp() - make_interval(secs => ${KEPT_EXPIRED_MS / 1000})
  `.execute(trx);
  const { rows } = await sql<{ lim: number; used: number; readers: number; next_free_ms: number }>`
    select least(${configuredLimit}::int, coalesce(max(b.limit_requests), ${configuredLimit}::int)) as lim,
      (count(s.id) + coalesce(max(b.foreign_requests) filter (where b.foreign_until > clock_timestamp()), 0))::int
        as used,
      (count(s.id) filter (where s.lane = 'reader'))::int as readers,
      coalesce(ceil(extract(epoch from least(
        min(s.expires_at) filter (where s.released_at is not null),
        max(b.foreign_until) filter (where b.foreign_until > clock_timestamp())
      ) - clock_timestamp()) * 1000), ${LONGEST_NAP_MS})::int as next_free_ms
    from request_budget b left join request_slots s on s.expires_at > clock_timestamp()
  `.execute(trx);
  const row = rows[0];
  if (row === undefined) throw new TypeError('an aggregate gave back no row');
  return { limit: row.lim, free: row.lim - row.used, readers: row.readers, nextFreeMs: row.next_free_ms };
}

async function give(
  trx: DatabaseTransaction,
  rateLimit: NonNullable<RateLimit>,
  granted: GrantedSlot,
  limits: AnsweredLimits | null,
): Promise<Instant> {
  if (limits !== null) await learn(trx, rateLimit, granted.grantedAt, limits);
  const { rows } = await sql<{ released_at: Instant }>`
    update request_slots
    set released_at = moment, expires_at = moment + make_interval(secs => ${rateLimit.windowSeconds})
    from clock_timestamp() as moment
    where id = ${granted.id}
    returning released_at`.execute(trx);
  const row = rows[0];
  if (row !== undefined) return row.released_at;
  // The slot expired, and was cleared away, while its request was still under way.
  const { rows: clock } = await sql<{ now: Instant }>`select clock_timestamp() as now`.execute(trx);
  if (clock[0] === undefined) throw new TypeError('a select gave back no row');
  return clock[0].now;
}

// Belief: a limit below the configured one is followed at once, and forgotten once the answers name a higher one
// again. Where fewer requests remain than we know of, somebody else uses the account: the difference is left alone
// until the moment that the answer names.
async function learn(
  db: Database,
  rateLimit: RateLimit,
  grantedAt: Instant,
  limits: AnsweredLimits,
): Promise<void> {
  const pauseMs = limits.throttled
    ? (limits.resetMs ?? (rateLimit === null ? DEFAULT_PAUSE_MS : rateLimit.windowSeconds * 1000))
    : null;
  await sql`
    update request_budget set
      limit_requests = coalesce(${limits.limit}::int, limit_requests),
      window_seconds = ${rateLimit?.windowSeconds ?? null}::numeric,
      paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => ${pauseMs}::float8 / 1000)),
      last_throttled_at = case when ${limits.throttled} then clock_timestamp() else last_throttled_at end
  `.execute(db);
  if (limits.remaining === null || limits.limit === null || limits.resetMs === null) return;
  await sql`
    update request_budget set
      foreign_requests = greatest(0, ${limits.limit - limits.remaining} - ours.used),
      foreign_until = clock_timestamp() + make_interval(secs => ${limits.resetMs}::float8 / 1000)
    from (select count(*)::int as used from request_slots where expires_at > ${grantedAt}::timestamptz) as ours
  `.execute(db);
}
