// One pass over all tables with rows over age: in small batches with a pause after each, so that other work does not
// wait.

import { sql } from 'kysely';
import { errorCode } from '../../base/describe-error.ts';
import type { Logger } from '../../base/log.ts';
import { sleep } from '../../base/sleep.ts';
import type { Retention } from '../../config/process/retention.ts';
import type { Database } from '../../db/database.ts';
import { asDatabaseError, LOCK_NOT_AVAILABLE } from '../../db/database-errors.ts';
import { withLock } from '../../db/locks/process-session.ts';
import { transact } from '../../db/transact.ts';
import { beginPass, endPass, listDueTables, noteBatch } from './progress.ts';
import type { PrunedTable } from './pruned-tables.ts';

/** Rows that a batch checks, or deletes: some ten milliseconds. */
const BATCH_ROWS = 1000;
/** As long as a batch, or longer: at most half of one connection's time. */
const PAUSE_MS = 50;
/** Then the rest is left to the next job, so that other work may come first. */
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
 * `done`: all due tables were checked. `left`: time was up, or another transaction was writing rows over age. `busy`:
 * another process prunes.
 */
export type PruneOutcome = 'done' | 'left' | 'busy';

/**
 * Deletes the rows over age. The rows of a finished batch stay deleted if this fails later.
 *
 * Throws: AccessRefused if the role may not delete; the signal's reason when aborted; the database's errors.
 */
export async function pruneTables(deps: PruneDeps, input: PruneInput): Promise<PruneOutcome> {
  const { signal, longestMs = LONGEST_MS } = input;
  const deadlineMs = performance.now() + longestMs;
  try {
    const locked = await withLock(deps.db, 'retention', async () => {
      let isDone = true;
      for (const { table, days } of await listDueTables(deps.db, input.retention)) {
        signal.throwIfAborted();
        const isComplete = days === null || (await pruneTable(deps, table, { ...input, days, deadlineMs }));
        if (isComplete) await endPass(deps.db, table.name, days);
        isDone &&= isComplete;
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
        // The planner cannot estimate a batch: it would compile for seconds a statement of milliseconds.
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
