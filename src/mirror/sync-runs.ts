// The ledger of runs: begins, advances and ends a run. Knows the table sync_runs, not how a run is carried out.

import { type Selectable, sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import type { RunMode, RunState, SyncRunsTable } from '../db/tables.ts';
import { Busy } from '../errors.ts';
import type { LoadCounts } from './load-batch.ts';

export type SyncRun = Selectable<SyncRunsTable>;

const UNIQUE_VIOLATION = '23505';

export interface RunStart {
  readonly resource: string;
  readonly mode: RunMode;
  readonly plan?: object;
}

/**
 * Gives back the new, running run.
 *
 * Throws: Busy where a run of the resource is going on (or was killed and is neither resumed nor ended yet).
 */
export async function startRun(database: Database, { resource, mode, plan }: RunStart): Promise<SyncRun> {
  try {
    return await database
      .insertInto('sync_runs')
      .values({ resource, mode, plan: plan === undefined ? null : JSON.stringify(plan) })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNIQUE_VIOLATION) {
      throw new Busy(`another sync of ${resource} is running: see affiliate-mirror status`, { cause: error });
    }
    throw error;
  }
}

/** Gives back the run of the resource that is in the state running, whether its process lives or was killed. */
export async function findRunningRun(database: Database, resource: string): Promise<SyncRun | undefined> {
  return database
    .selectFrom('sync_runs')
    .selectAll()
    .where('resource', '=', resource)
    .where('state', '=', 'running')
    .executeTakeFirst();
}

/** What a batch adds to the run. */
export interface Progress {
  readonly requests: number;
  readonly pages: number;
  readonly rows: LoadCounts;
  /** Different records that the batch met for the first time in the run. */
  readonly distinct: number;
  /** As the program last said; null leaves what is there. */
  readonly totalUpstream: number | null;
  readonly checkpoint: object | null;
}

/**
 * Adds to the run's figures, replaces its checkpoint, and gives back the run as it is now. Belongs into the
 * transaction that holds the batch's rows and seen ids.
 */
export async function saveProgress(
  trx: DatabaseTransaction | Database,
  runId: number,
  progress: Progress,
): Promise<SyncRun> {
  const { requests, pages, rows, distinct, totalUpstream, checkpoint } = progress;
  return trx
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
    .where('id', '=', runId)
    .where('state', '=', 'running')
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface RunEnd {
  readonly state: Exclude<RunState, 'running'>;
  readonly verified?: boolean;
  readonly rowsDeleted?: number;
  readonly deletesHeldBack?: number;
  readonly error?: { readonly code: string | null; readonly message: string };
}

/**
 * Ends the run, empties its checkpoint, forgets what it met, and gives back the run as it ended.
 *
 * Throws: where the run has ended already, or would succeed or delete without having been verified.
 */
export async function finishRun(database: Database, runId: number, end: RunEnd): Promise<SyncRun> {
  const { state, verified = false, rowsDeleted = 0, deletesHeldBack = 0, error } = end;
  return database.transaction().execute(async (trx) => {
    await trx.deleteFrom('seen_ids').where('run_id', '=', runId).execute();
    return trx
      .updateTable('sync_runs')
      .set({
        state,
        verified,
        rows_deleted: rowsDeleted,
        deletes_held_back: deletesHeldBack,
        error_code: error?.code ?? null,
        error: error?.message ?? null,
        checkpoint: null,
        heartbeat_at: sql<string>`clock_timestamp()`,
        finished_at: sql<string>`clock_timestamp()`,
      })
      .where('id', '=', runId)
      .where('state', '=', 'running')
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/** Gives back the latest runs, newest first; of one resource where it is named. */
export async function latestRuns(
  database: Database,
  { resource, limit }: { resource?: string; limit: number },
): Promise<readonly SyncRun[]> {
  let query = database.selectFrom('sync_runs').selectAll().orderBy('id', 'desc').limit(limit);
  if (resource !== undefined) query = query.where('resource', '=', resource);
  return query.execute();
}
