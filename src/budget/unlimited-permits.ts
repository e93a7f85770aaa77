// Permits without a limit. For reads the database is asked rarely, and its clock is estimated in between. Asking before
// and after each request, in transactions, took 7,000 of the 8,300 statements of a sync of 100,000 referrals. (The time
// saved was less than the noise of the machine it was measured on.)
//
// Why an estimated time is as good. The answer that said "it is T" was on its way between `askedMs` and `heardMs` of
// this process's own clock. So at `t` the database's clock shows at least T + (t − heardMs) and at most T + (t −
// askedMs). A permit gets the earliest, its answer the latest: a read that could have missed a write then always counts
// as older. For payments nothing is estimated: a read after our own write must count as newer. But requests that ask at
// the same time share one question. It is sent after the last of them asked, and none goes on before it is answered, so
// it tells each of them the same as a question of its own.

import { sql } from 'kysely';
import type { AnsweredLimits, Permit } from '../api/permit.ts';
import { spellMicros } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import type { Priority, TakenPermit } from './waits.ts';

/** A pause that the API asked another process for is noticed within this time. */
const OLDEST_READING_MS = 100;
/** Far more than two clocks differ in speed. */
const CLOCK_DRIFT = 0.001;

interface Reading {
  readonly nowMicros: number;
  readonly pausedMicros: number;
  readonly askedMs: number;
  readonly heardMs: number;
}

export interface UnlimitedDeps {
  readonly db: Database;
  readonly noteThrottled: (limits: AnsweredLimits) => Promise<void>;
}

/**
 * Returns the function that takes a permit, or returns how long to wait if all processes pause; `noteThrottled` is
 * called with each 429. The permits of payments wait for one statement each way, which concurrent ones share.
 */
export function makeUnlimitedPermits(
  { db, noteThrottled }: UnlimitedDeps,
  { priority }: { priority: Priority },
): () => Promise<TakenPermit> {
  let last: Reading | null = null;
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Reading> | null = null;

  /** Reads once for all calls that come before it begins, which is when the reading before it has ended. */
  function readTogether(): Promise<Reading> {
    next ??= running.then(() => {
      const begun = readAnew();
      running = begun.catch(() => {});
      next = null;
      return begun;
    });
    return next;
  }

  async function readAnew(): Promise<Reading> {
    const askedMs = performance.now();
    const answer = await sql<{ now_micros: number; paused_micros: number }>`
      select (extract(epoch from moment) * 1000000)::bigint as now_micros,
        (coalesce(greatest(0, extract(epoch from paused_until - moment)), 0) * 1000000)::bigint as paused_micros
      from request_budget, clock_timestamp() as moment`.execute(db);
    const row = onlyRow(answer, 'request_budget');
    last = {
      nowMicros: row.now_micros,
      pausedMicros: row.paused_micros,
      askedMs,
      heardMs: performance.now(),
    };
    return last;
  }

  async function read(): Promise<Reading> {
    const isFresh =
      priority === 'reads' && last !== null && performance.now() - last.askedMs < OLDEST_READING_MS;
    return last !== null && isFresh ? last : readTogether();
  }

  return async () => {
    const seen = await read();
    if (seen.pausedMicros > 0) {
      last = null;
      return { waitMs: Math.ceil(seen.pausedMicros / 1000), reason: 'pause' };
    }
    const grantedAt = spellMicros(seen.nowMicros + since(seen.heardMs) * (1 - CLOCK_DRIFT));
    const returnAnswered: Permit['returnAnswered'] = async (limits) => {
      if (limits?.throttled) {
        last = null;
        await noteThrottled(limits);
      }
      if (priority === 'payments') return spellMicros((await readTogether()).nowMicros);
      return spellMicros(seen.nowMicros + since(seen.askedMs) * (1 + CLOCK_DRIFT));
    };
    // Without a limit no permit is ever too old.
    const permit = { grantedAt, isUsable: () => true, returnAnswered, returnUnused: async () => {} };
    return { permit };
  };
}

function since(ms: number): number {
  return (performance.now() - ms) * 1000;
}
