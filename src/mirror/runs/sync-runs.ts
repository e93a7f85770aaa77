// The run log (sync_runs): begins, advances and ends a run.

import { type Selectable, sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import type { RunMode, SyncRunsTable } from '../../db/tables.ts';
import { Busy } from '../../errors.ts';
import type { LoadCounts } from '../load-batch.ts';
import { forgetSeenRows } from './seen-rows.ts';

export type SyncRun = Selectable<SyncRunsTable>;

const UNIQUE_VIOLATION = '23505';

/**
 * Begins a run and returns it.
 *
 * Throws: Busy where a run of the resource is going on (or was killed and is neither resumed nor ended yet).
 */
export async function startRun(
  database: Database,
  { resource, mode }: { resource: string; mode: RunMode },
): Promise<SyncRun> {
  try {
    return await database
      .insertInto('sync_runs')
      .values({ resource, mode })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNIQUE_VIOLATION) {
      throw new Busy(`another sync of ${resource} is running: see affiliate-mirror status`, { cause: error });
    }
    throw error;
  }
}

/** What a batch adds to the run. */
export interface Progress {
  readonly requests: number;
  readonly pages: number;
  readonly rows: LoadCounts;
  /** Different records that the batch met for the first time in the run. */
  readonly distinct: number;
  /** The total that the program last gave; null leaves what is there. */
  readonly totalUpstream: number | null;
  readonly checkpoint: object | null;
}

/**
 * Adds to the run's figures, replaces its checkpoint, and returns the run as it is now. Belongs in the
 * transaction that holds the batch's rows and seen rows.
 *
 * Throws: Busy where the run has ended already, or another process has taken it over.
 */
export async function saveProgress(
  trx: DatabaseTransaction | Database,
  run: Pick<SyncRun, 'id' | 'attempt'>,
  progress: Progress,
): Promise<SyncRun> {
  const { requests, pages, rows, distinct, totalUpstream, checkpoint } = progress;
  const saved = await trx
    .updateTable('sync_runs')
    .set((eb) => ({
      requests: eb('requests', '+', requests),
      pages: eb('pages', '+', pages),
      rows_seen: eb('rows_seen', '+', rows.seen),
      rows_inserted: eb('rows_inserted', '+', rows.inserted),
      rows_updated: eb('rows_updated', '+', rows.updated),
      rows_unchanged: eb('rows_unchanged', '+', rows.unchanged),
      rows_rejected: eb('rows_rejected', '+', rows.rejected),
      rows_repeated: eb('rows_repeated', '+', rows.repeated),
      distinct_seen: eb('distinct_seen', '+', distinct),
      total_upstream: totalUpstream ?? eb.ref('total_upstream'),
      checkpoint: checkpoint === null ? null : JSON.stringify(checkpoint),
      heartbeat_at: sql<string>`clock_timestamp()`,
    }))
    .where('id', '=', run.id)
    .where('attempt', '=', run.attempt)
    .where('state', '=', 'running')
    .returningAll()
    .executeTakeFirst();
  if (saved === undefined) throw takenOver(run.id);
  return saved;
}

export interface RunEnd {
  /**
   * Why it is not known that nothing was missed, a sentence; null where it is known: only then did the run succeed,
   * and only then may it delete.
   */
  readonly reason: string | null;
  readonly rowsDeleted: number;
  readonly deletesHeldBack: number;
}

/**
 * Ends the run that was read to its end, empties its checkpoint, deletes what it met, and returns the run as it
 * ended. Belongs in the transaction that marks the run's missing rows deleted.
 *
 * Throws: Busy where the run has ended already, or another process has taken it over.
 */
export async function finishRun(
  trx: DatabaseTransaction,
  run: Pick<SyncRun, 'id' | 'attempt'>,
  { reason, rowsDeleted, deletesHeldBack }: RunEnd,
): Promise<SyncRun> {
  const ended = await trx
    .updateTable('sync_runs')
    .set({
      state: reason === null ? 'succeeded' : 'partial',
      verified: reason === null,
      error: reason,
      rows_deleted: rowsDeleted,
      deletes_held_back: deletesHeldBack,
      checkpoint: null,
      heartbeat_at: sql<string>`clock_timestamp()`,
      finished_at: sql<string>`clock_timestamp()`,
    })
    .where('id', '=', run.id)
    .where('attempt', '=', run.attempt)
    .where('state', '=', 'running')
    .returningAll()
    .executeTakeFirst();
  if (ended === undefined) throw takenOver(run.id);
  await forgetSeenRows(trx, run.id);
  return ended;
}

function takenOver(runId: number): Busy {
  return new Busy(`run ${runId} has ended, or was taken over by another process: this one stops`);
}
