// The run log (sync_runs): begins, advances, stops and ends a run, and stores its plan and the differences between its
// records and the contract (schema_drift).
//
// Only the process of the last attempt writes to a run, and only until it has ended. A process that was stopped
// meanwhile wakes up with an attempt that is no longer the last.

import { type RawBuilder, type Selectable, sql, type UpdateObject } from 'kysely';
import { DatabaseError } from 'pg';
import { Busy } from '../../base/errors.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import type { RunMode, SyncRunsTable, Tables } from '../../db/tables.ts';
import type { Drift } from '../../decode/drift-watch.ts';
import type { LoadCounts } from '../load-batch.ts';
import { forgetSeenRows } from './seen-rows.ts';
import { lastWholeRun } from './whole-runs.ts';

export type SyncRun = Selectable<SyncRunsTable>;

/** A run, and the attempt of this process. */
export interface OwnRun {
  readonly id: number;
  readonly attempt: number;
}

function isStillOwn({ id, attempt }: OwnRun): RawBuilder<boolean> {
  return sql<boolean>`(id = ${id} and attempt = ${attempt} and state = 'running')`;
}

function takenOver({ id }: OwnRun): Busy {
  return new Busy(`run ${id} has ended, or was taken over by another process: this one stops`);
}

const NOW = sql<string>`clock_timestamp()`;

type Values = UpdateObject<Tables, 'sync_runs'>;

/** Changes the run and returns it; undefined if it has ended, or another process has taken it over. */
function changeIfOwn(db: Database, run: OwnRun, values: Values): Promise<SyncRun | undefined> {
  return db.updateTable('sync_runs').set(values).where(isStillOwn(run)).returningAll().executeTakeFirst();
}

/** Changes the run and returns it. Throws: Busy if it has ended, or another process has taken it over. */
export async function changeRun(db: Database, run: OwnRun, values: Values): Promise<SyncRun> {
  const changed = await changeIfOwn(db, run, values);
  if (changed === undefined) throw takenOver(run);
  return changed;
}

/**
 * Keeps the run from ending, and other processes from taking it over, until the transaction ends. For rows that belong
 * to the run in other tables.
 *
 * Throws: Busy if the run has ended, or another process has taken it over.
 */
export async function holdRun(trx: DatabaseTransaction, run: OwnRun): Promise<void> {
  const held = await trx
    .selectFrom('sync_runs')
    .select('id')
    .where(isStillOwn(run))
    .forUpdate()
    .executeTakeFirst();
  if (held === undefined) throw takenOver(run);
}

/**
 * Begins a run and returns it.
 *
 * Throws: Busy if a run of the resource is going on (or was killed, and is neither resumed nor ended yet).
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

/** The figures that a batch adds to the run. */
export interface Progress {
  readonly requests: number;
  readonly pages: number;
  readonly rows: LoadCounts;
  /** Records that the run met for the first time in this batch. */
  readonly distinct: number;
  /** The last total that the API named; null leaves the stored one. */
  readonly totalUpstream: number | null;
  readonly checkpoint: object | null;
}

/**
 * Adds to the run's figures, replaces its checkpoint, and returns the run. Belongs in the transaction with the batch's
 * rows and seen rows.
 *
 * Throws: as changeRun.
 */
export async function saveProgress(
  trx: DatabaseTransaction | Database,
  run: OwnRun,
  progress: Progress,
): Promise<SyncRun> {
  const { requests, pages, rows, distinct, totalUpstream, checkpoint } = progress;
  const plus = (column: string, added: number) => sql<number>`${sql.ref(column)} + ${added}`;
  return changeRun(trx, run, {
    requests: plus('requests', requests),
    pages: plus('pages', pages),
    rows_seen: plus('rows_seen', rows.seen),
    rows_inserted: plus('rows_inserted', rows.inserted),
    rows_updated: plus('rows_updated', rows.updated),
    rows_unchanged: plus('rows_unchanged', rows.unchanged),
    rows_rejected: plus('rows_rejected', rows.rejected),
    rows_repeated: plus('rows_repeated', rows.repeated),
    distinct_seen: plus('distinct_seen', distinct),
    ...(totalUpstream !== null && { total_upstream: totalUpstream }),
    checkpoint: checkpoint === null ? null : JSON.stringify(checkpoint),
    heartbeat_at: NOW,
  });
}

export interface RunEnd {
  /** Whether the run certainly missed nothing: only then may it mark rows deleted. */
  readonly verified: boolean;
  /** A sentence that says why the run is unverified or holds deletions back; null if it succeeded. */
  readonly reason: string | null;
  readonly rowsDeleted: number;
  readonly deletesHeldBack: number;
}

/**
 * Ends a run that read its list to the end, empties its checkpoint, deletes its seen rows, and returns it. Belongs in
 * the transaction that marks the run's missing rows deleted.
 *
 * Throws: as changeRun.
 */
export async function finishRun(
  trx: DatabaseTransaction,
  run: OwnRun,
  { verified, reason, rowsDeleted, deletesHeldBack }: RunEnd,
): Promise<SyncRun> {
  const ended = await changeRun(trx, run, {
    state: reason === null ? 'succeeded' : 'partial',
    verified,
    error: reason,
    rows_deleted: rowsDeleted,
    deletes_held_back: deletesHeldBack,
    checkpoint: null,
    heartbeat_at: NOW,
    finished_at: NOW,
  });
  await forgetSeenRows(trx, run.id);
  return ended;
}

export interface RunStop {
  /** `interrupted`: it was asked to stop. `failed`: an error ended it. */
  readonly state: 'interrupted' | 'failed';
  readonly code: string | null;
  readonly message: string;
  /** Requests that were sent since the last batch was committed. */
  readonly requests: number;
}

/**
 * Stops the run and returns it; its checkpoint and its seen rows stay. If another process has taken the run over,
 * changes nothing and returns null.
 */
export async function stopRun(db: Database, run: OwnRun, stop: RunStop): Promise<SyncRun | null> {
  const stopped = await changeIfOwn(db, run, {
    state: stop.state,
    requests: sql<number>`requests + ${stop.requests}`,
    error_code: stop.code,
    error: stop.message,
    finished_at: NOW,
  });
  return stopped ?? null;
}

/** Notes for how long the run has waited for an answer, and how often it has asked; null: it waits no longer. */
export async function noteUnanswered(
  db: Database,
  run: OwnRun,
  wait: { readonly forMs: number; readonly attempt: number } | null,
): Promise<void> {
  await changeIfOwn(db, run, {
    unanswered_since:
      wait && sql<string>`clock_timestamp() - make_interval(secs => ${wait.forMs / 1000}::float8)`,
    unanswered_attempt: wait?.attempt ?? null,
  });
}

/** Adds a run to the log that did not begin because another process was running it, and returns it. */
export async function recordSkippedRun(
  db: Database,
  { resource, mode, reason }: { resource: string; mode: SyncRun['mode']; reason: string },
): Promise<SyncRun> {
  return db
    .insertInto('sync_runs')
    .values({ resource, mode, state: 'skipped', error: reason, finished_at: NOW })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Stores the plan, in place of an earlier one. Idempotent: yes. Throws: as changeRun. */
export async function savePlan(db: Database, run: OwnRun, plan: object): Promise<void> {
  await changeRun(db, run, { plan: JSON.stringify(plan) });
}

/**
 * Stores the findings of a run, and returns the new ones: neither the last verified run before it that read everything
 * had them, nor any run since. Idempotent: yes; later findings replace earlier ones of the same field and kind.
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
