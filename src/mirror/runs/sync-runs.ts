// The run log (sync_runs): begins, advances and ends a run, and notes what it set out to do and where it saw records
// differ from the contract (schema_drift).

import { type Selectable, sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import type { RunMode, SyncRunsTable } from '../../db/tables.ts';
import { Busy } from '../../errors.ts';
import type { Drift } from '../../records/drift-watch.ts';
import type { LoadCounts } from '../load-batch.ts';
import { isStillOwn, type OwnRun, takenOver } from './own-run.ts';
import { forgetSeenRows } from './seen-rows.ts';
import { lastWholeRun } from './whole-runs.ts';

export type SyncRun = Selectable<SyncRunsTable>;

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
    if (error instanceof DatabaseError && error.constraint === 'sync_runs_one_running') {
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
  run: OwnRun,
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
    .where(isStillOwn(run))
    .returningAll()
    .executeTakeFirst();
  if (saved === undefined) throw takenOver(run);
  return saved;
}

export interface RunEnd {
  /** Whether it is known that nothing was missed: only then may the run delete. */
  readonly verified: boolean;
  /** Why the run did not succeed, a sentence: it is not verified, or holds deletions back. Null where it did. */
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
  run: OwnRun,
  { verified, reason, rowsDeleted, deletesHeldBack }: RunEnd,
): Promise<SyncRun> {
  const ended = await trx
    .updateTable('sync_runs')
    .set({
      state: reason === null ? 'succeeded' : 'partial',
      verified,
      error: reason,
      rows_deleted: rowsDeleted,
      deletes_held_back: deletesHeldBack,
      checkpoint: null,
      heartbeat_at: sql<string>`clock_timestamp()`,
      finished_at: sql<string>`clock_timestamp()`,
    })
    .where(isStillOwn(run))
    .returningAll()
    .executeTakeFirst();
  if (ended === undefined) throw takenOver(run);
  await forgetSeenRows(trx, run.id);
  return ended;
}

/**
 * Stores the plan. Idempotent: yes; a later one replaces it.
 *
 * Throws: Busy where the run has ended already, or another process has taken it over.
 */
export async function savePlan(db: Database, run: OwnRun, plan: object): Promise<void> {
  const saved = await db
    .updateTable('sync_runs')
    .set({ plan: JSON.stringify(plan) })
    .where(isStillOwn(run))
    .returning('id')
    .executeTakeFirst();
  if (saved === undefined) throw takenOver(run);
}

/**
 * Stores the findings of a run, and returns those that are new: that neither the last verified run before it that read
 * everything had, nor any run since. Idempotent: yes; later findings replace earlier ones of the same field and kind.
 */
export async function saveDrift(
  database: Database | DatabaseTransaction,
  { runId, resource }: { runId: number; resource: string },
  findings: readonly Drift[],
): Promise<readonly Drift[]> {
  if (findings.length === 0) return [];
  await database
    .insertInto('schema_drift')
    .values(findings.map((drift) => ({ run_id: runId, resource, ...drift })))
    .onConflict((conflict) =>
      conflict.columns(['run_id', 'resource', 'field', 'kind']).doUpdateSet((eb) => ({
        found: eb.ref('excluded.found'),
        occurrences: eb.ref('excluded.occurrences'),
      })),
    )
    .execute();
  const since = await lastWholeRun(database, { resource, before: runId });
  const { rows } = await sql<{ field: string; kind: string }>`
    select distinct field, kind from schema_drift
    where resource = ${resource} and run_id < ${runId} and run_id >= ${since ?? 0}`.execute(database);
  const known = new Set(rows.map(({ field, kind }) => `${kind} ${field}`));
  return findings.filter(({ field, kind }) => !known.has(`${kind} ${field}`));
}
