// The account's request budget, shared by every process on the mirror's database. Exact: the API never sees more than
// the limit in any window, for any number of processes and any latency. Sends no request.
//
// Why it is exact. The API counts a request at some moment between its sending and its answer. A permit therefore
// counts from the moment that it is granted until one window after its answer: two requests that share a window at the
// API always share one here. That costs the latency of a request per window, a fraction of a percent.
// A process that dies with a permit cannot return it: the permit expires after the time in which it may be used, the
// longest time that a request may take, and one window. So does a permit whose request got no answer: a request that
// was given up (the worker stops, another worker has the job) may still be on its way. A process that was stopped in
// between does not use a permit that is older than that. The clock is the database's own; those of the machines do not
// matter.
// Granting is one statement (`take_permit`), so that no process is ever stopped while others wait for its lock.
// Rejected: fixed windows and token buckets (both let up to twice the limit through at a boundary); BullMQ's limiter
// (it counts jobs, not requests, and per queue).

import { uptime } from 'node:os';
import { sql } from 'kysely';
import type { AnsweredLimits, TakePermit } from '../api/permit.ts';
import { LONGEST_PAUSE_MS } from '../api/rate-limit-headers.ts';
import type { Logger } from '../base/log.ts';
import { sleep } from '../base/sleep.ts';
import type { RateLimit } from '../config/program/rate-limit.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { makeUnlimitedPermits } from './unlimited-permits.ts';
import {
  type BudgetWait,
  type PermitMeter,
  type PermitWait,
  type Priority,
  sayLongWaits,
  type TakenPermit,
  type WaitReason,
} from './waits.ts';

/** While a payment waits, reads keep this share of the limit, so that a batch never stops a sync. */
const READS_FLOOR = 0.2;
/**
 * A permit may be used for so long after it was asked for: far longer than connecting takes, and short for a window.
 */
const USABLE_MS = 10_000;
/** The pause of all processes after a 429 whose headers name no time, if no window is configured. */
const DEFAULT_PAUSE_MS = 30_000;

export interface BudgetDeps {
  readonly db: Database;
  readonly log: Logger;
  /** Called with each wait, at least once a second. */
  readonly onWait?: (wait: BudgetWait) => void;
  readonly meter?: PermitMeter;
}

export interface BudgetOptions {
  readonly rateLimit: RateLimit;
  readonly priority: Priority;
  /** The longest that one request may take, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** In milliseconds after the permit was asked for. */
  readonly usableMs?: number;
}

/**
 * Returns the function that grants permits of one priority. It waits for as long as the budget demands, and logs the
 * reason of a long wait.
 *
 * Throws (from that function): the signal's reason when aborted; the database's errors.
 * Source of the limit itself: contract, Rate limit.
 */
export function makeTakePermit({ db, log, onWait, meter }: BudgetDeps, options: BudgetOptions): TakePermit {
  const { rateLimit, priority, requestTimeoutMs, usableMs = USABLE_MS } = options;
  const take =
    rateLimit === null
      ? makeUnlimitedPermits({ db, noteThrottled: (limits) => noteThrottled(db, limits) }, { priority })
      : () => askForPermit(db, { rateLimit, priority, requestTimeoutMs, usableMs });

  const tell = async ({ reason, waitMs }: PermitWait) => {
    if (onWait === undefined) return;
    const goesOnInMs = reason === 'window' ? await readNextFree(db) : reason === 'pause' ? waitMs : null;
    onWait({ reason, goesOnInMs });
  };
  return async (signal) => {
    const said = sayLongWaits(log);
    for (;;) {
      signal?.throwIfAborted();
      const answer = await take();
      if ('permit' in answer) {
        meter?.granted();
        return answer.permit;
      }
      const beganMs = performance.now();
      said(answer);
      await tell(answer);
      try {
        await sleep(answer.waitMs, signal);
      } finally {
        meter?.waited(answer.reason, performance.now() - beganMs);
      }
    }
  };
}

interface Limited {
  readonly rateLimit: NonNullable<RateLimit>;
  readonly priority: Priority;
  readonly requestTimeoutMs: number;
  readonly usableMs: number;
}

interface Answered {
  readonly permit_id: number | null;
  readonly granted_at: Timestamp | null;
  readonly wait_ms: number | null;
  readonly wait_for: WaitReason | null;
}

async function askForPermit(db: Database, options: Limited): Promise<TakenPermit> {
  const { rateLimit, priority, requestTimeoutMs, usableMs } = options;
  const holdSeconds = (usableMs + requestTimeoutMs) / 1000 + rateLimit.windowSeconds;
  // The system's uptime goes on while the process or the machine is suspended; not all of a process's timers do.
  const usableUntil = uptime() + usableMs / 1000;
  const answer = await sql<Answered>`
    select *
    from take_permit(${priority}, ${rateLimit.requests}::int, ${holdSeconds}::float8, ${READS_FLOOR}::float8)
  `.execute(db);
  const { permit_id, granted_at, wait_ms, wait_for } = onlyRow(answer, 'take_permit');
  if (permit_id === null || granted_at === null) {
    return { waitMs: wait_ms ?? 1, reason: wait_for ?? 'window' };
  }
  return {
    permit: {
      grantedAt: granted_at,
      isUsable: () => uptime() < usableUntil,
      returnAnswered: (limits) => returnPermit(db, rateLimit, permit_id, limits),
      async returnUnused() {
        await sql`delete from request_permits where id = ${permit_id}`.execute(db);
      },
    },
  };
}

async function returnPermit(
  db: Database,
  { requests, windowSeconds }: NonNullable<RateLimit>,
  permitId: number,
  limits: AnsweredLimits | null,
): Promise<Timestamp> {
  const defaultSeconds = Math.min(windowSeconds, LONGEST_PAUSE_MS / 1000);
  const answer = await sql<{ returned_at: Timestamp }>`
    select return_permit(${permitId}, ${windowSeconds}::float8, ${requests}::int, ${limits?.throttled ?? null}::boolean,
      ${limits?.limit ?? null}::int, ${limits?.remaining ?? null}::int, ${toSeconds(limits?.resetMs)}::float8,
      ${defaultSeconds}::float8) as returned_at
  `.execute(db);
  return onlyRow(answer, 'return_permit').returned_at;
}

async function noteThrottled(db: Database, { limit, resetMs }: AnsweredLimits): Promise<void> {
  await sql`
    select learn_limits(null, null, true, ${limit}::int, null, ${toSeconds(resetMs)}::float8,
      ${DEFAULT_PAUSE_MS / 1000}::float8)
  `.execute(db);
}

function toSeconds(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : ms / 1000;
}

/** Returns in how many milliseconds the next request leaves the window; null if that is not known. */
async function readNextFree(db: Database): Promise<number | null> {
  // Requests in flight have no known end. Requests of others end together: see foreign_until.
  const answer = await sql<{ free_in_ms: number | null }>`
    select (extract(epoch from least(
        (select min(expires_at) from request_permits where returned_at is not null and expires_at > moment),
        (select foreign_until from request_budget where foreign_until > moment and foreign_requests > 0)
      ) - moment) * 1000)::float8 as free_in_ms
    from clock_timestamp() as moment`.execute(db);
  return onlyRow(answer, 'request_permits').free_in_ms;
}
