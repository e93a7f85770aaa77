// One look at everything that may be over age: in small batches with a pause after each, so that it runs beside other
// work and nobody waits for it.

import { sql } from 'kysely';
import type { Retention } from '../config/retention.ts';
import { asDatabaseError } from '../db/as-database-error.ts';
import type { Database } from '../db/database.ts';
import { withSessionLock } from '../db/session-lock.ts';
import { LOCK_NOT_AVAILABLE } from '../db/sqlstate.ts';
import { transact } from '../db/transact.ts';
import { errorCode } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { sleep } from '../sleep.ts';
import { beginPass, endPass, listDueTables, noteBatch } from './progress.ts';
import type { PrunedTable } from './pruned-tables.ts';

/** Rows that a batch looks at, or deletes: some ten milliseconds. */
const BATCH_ROWS = 1000;
/** As long as a batch, or longer: at most half of one connection's time. */
const PAUSE_MS = 50;
/** After so long the rest is left to the next job, which other work may precede. */
const LONGEST_MS = 60_000;

export interface PruneDeps {
  readonly db: Database;
  readonly log: Logger;
}

export interface PruneInput {
  readonly retention: Retention;
  readonly signal: AbortSignal;
  readonly batchRows?: number;
  readonly longestMs?: number;
}

/**
 * Whether everything that was due was looked at; `left`: time was up, or somebody was writing to rows that are over
 * age; `busy`: another process is at it.
 */
export type PruneOutcome = 'done' | 'left' | 'busy';

/**
 * Deletes what is over age, and returns whether all of it. What a batch deleted stays deleted, whatever ends this.
 *
 * Throws: AccessRefused where the role may not delete; the signal's reason when aborted; the database's errors.
 */
export async function pruneTables(deps: PruneDeps, input: PruneInput): Promise<PruneOutcome> {
  const { signal, longestMs = LONGEST_MS } = input;
  const deadlineMs = performance.now() + longestMs;
  const lock = { name: 'retention', isPatient: false };
  try {
    const locked = await withSessionLock(deps.db, lock, async () => {
      let isDone = true;
      for (const { table, days } of await listDueTables(deps.db, input.retention)) {
        signal.throwIfAborted();
        const isLookedThrough =
          days === null || (await pruneTable(deps, table, { ...input, days, deadlineMs }));
        if (isLookedThrough) await endPass(deps.db, table.name, days);
        isDone &&= isLookedThrough;
      }
      return isDone;
    });
    if (locked.isHeldByOther) return 'busy';
    return locked.result ? 'done' : 'left';
  } catch (error) {
    throw asDatabaseError(error);
  }
}

interface TableInput extends PruneInput {
  readonly days: number;
  readonly deadlineMs: number;
}

async function pruneTable(
  { db, log }: PruneDeps,
  { name, pruneBatch }: PrunedTable,
  { days, deadlineMs, signal, batchRows = BATCH_ROWS }: TableInput,
): Promise<boolean> {
  const pass = await beginPass(db, name, days);
  let { reached } = pass;
  let rows = 0;
  let isLast = false;
  try {
    while (!isLast && performance.now() < deadlineMs) {
      const batch = await transact(db, async (trx) => {
        // The planner knows nothing of what a batch picks out: it would compile for seconds what runs for milliseconds.
        await sql`set local jit = off`.execute(trx);
        const done = await pruneBatch(trx, { cutoff: pass.cutoff, reached, limit: batchRows });
        await noteBatch(trx, name, { cutoff: pass.cutoff, batch: done });
        return done;
      });
      rows += batch.deleted;
      ({ reached, isLast } = batch);
      if (!isLast) await sleep(PAUSE_MS, signal);
    }
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
  } finally {
    if (rows > 0) log.info({ table: name, rows, keep_days: days, is_last: isLast }, 'retention.pruned');
  }
  return isLast;
}
