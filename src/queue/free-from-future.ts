// Frees what a worker whose clock was ahead left in the queue: locks and delays that end further in the future than
// any of ours can. (Its ticks are moved back in schedules.ts.)

import { sql } from 'kysely';
import { CLOCK_TOLERANCE_MS } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { QueueBackend } from './backend.ts';
import type { Timings } from './timings.ts';

export interface FreeDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly backend: QueueBackend;
}

type Limits = Pick<Timings, 'lockDurationMs' | 'longestDelayMs'>;

/**
 * Frees the jobs that are locked or put off further ahead than they can be; `nowMs` is the database's clock. A lock is
 * shortened, not taken away: its worker may still be running, and then renews it. Idempotent: yes.
 */
export async function freeFromFuture(deps: FreeDeps, nowMs: number, limits: Limits): Promise<void> {
  const { log } = deps;
  const locks = await shortenLocks(deps, nowMs, limits);
  const delays = await endDelays(deps, nowMs, limits);
  if (locks + delays > 0) log.warn({ locks, delays }, 'queue.freed_from_future');
}

// Redis ends locks by its own clock. On Postgres, the mark of the last look for stalled jobs is as wrong as the locks
// are, and while it lies ahead nobody looks for any.
async function shortenLocks(
  { db, backend: { schema } }: FreeDeps,
  nowMs: number,
  { lockDurationMs }: Limits,
): Promise<number> {
  if (schema === null) return 0;
  await sql`
    update ${sql.table(`${schema}.meta`)} set value = ${nowMs}
    where field = 'stalled-check' and value::bigint > ${nowMs + CLOCK_TOLERANCE_MS}
  `.execute(db);
  const { rows } = await sql`
    update ${sql.table(`${schema}.job`)} set locked_until_ms = ${nowMs + lockDurationMs}
    where state = 'active' and locked_until_ms > ${nowMs + lockDurationMs + CLOCK_TOLERANCE_MS}
    returning id
  `.execute(db);
  return rows.length;
}

async function endDelays(
  { backend: { queue } }: FreeDeps,
  nowMs: number,
  { longestDelayMs }: Limits,
): Promise<number> {
  const possible = await queue.getDelayedCount(nowMs + longestDelayMs + CLOCK_TOLERANCE_MS);
  const beyond = await queue.getDelayed(possible);
  // The next tick of a schedule may be a year ahead.
  const ours = beyond.filter((job) => job.repeatJobKey === undefined);
  // Not promote(): on Postgres that also takes a job back which a worker took at the same moment.
  for (const job of ours) await job.changeDelay(0);
  return ours.length;
}
