// Compares this machine's clock with the database's, which is the one that counts.
//
// BullMQ writes its delays, its ticks and, on Postgres, its locks by the clock of the worker's machine. If that clock
// is ahead, no worker may take the jobs until that time; if it is behind, it takes jobs from workers that are still
// doing them. A few seconds do no harm: all our waits allow for them.

import { sql } from 'kysely';
import { ClockWrong } from '../base/errors.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from './database.ts';
import { onlyRow } from './only-row.ts';

/** From this difference on, a warning. */
const WORTH_A_WARNING_MS = 1000;
/** From this difference on, no worker runs: its times are never further ahead than this. */
export const CLOCK_TOLERANCE_MS = 10_000;

export interface ClockReading {
  /** The database's clock. */
  readonly nowMs: number;
  /** How far this machine's clock is ahead of it, at least; negative if it is behind. */
  readonly aheadMs: number;
}

export async function readClock(db: Database): Promise<ClockReading> {
  const askedMs = Date.now();
  const answer = await sql<{ now_ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`.execute(db);
  const heardMs = Date.now();
  const row = onlyRow(answer, 'the clock');
  return { nowMs: row.now_ms, aheadMs: aheadBy(row.now_ms, askedMs, heardMs) };
}

export async function readNow(db: Database): Promise<Timestamp> {
  const answer = await sql<{ now: Timestamp }>`select clock_timestamp() as now`.execute(db);
  return onlyRow(answer, 'the clock').now;
}

// The database read its clock at some moment between our two readings: a slow answer proves nothing.
function aheadBy(nowMs: number, askedMs: number, heardMs: number): number {
  if (askedMs > nowMs) return askedMs - nowMs;
  return Math.min(0, heardMs - nowMs);
}

/**
 * Returns the database's time. Calls `warn` if the clocks differ by a second or more.
 *
 * Throws: ClockWrong if they differ too much to work; the database's errors.
 */
export async function checkClock(db: Database, warn: (difference: string) => void): Promise<number> {
  const { nowMs, aheadMs } = await readClock(db);
  if (Math.abs(aheadMs) >= CLOCK_TOLERANCE_MS) throw clockWrong(aheadMs);
  if (Math.abs(aheadMs) >= WORTH_A_WARNING_MS) warn(describeDifference(aheadMs));
  return nowMs;
}

function describeDifference(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `the clock of this machine is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the database's`;
}

function clockWrong(aheadMs: number): ClockWrong {
  return new ClockWrong(
    `${describeDifference(aheadMs)}, and a worker's may differ by less than ${CLOCK_TOLERANCE_MS / 1000} s: correct the wrong one (with NTP), and start the worker again`,
  );
}
