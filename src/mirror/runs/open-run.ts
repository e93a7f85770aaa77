// Begins a run, takes up one that was stopped or killed, or lets its walk begin anew. Its caller holds the lock on the
// resource, so a run that is running according to the run log has no process any more.

import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { RunMode } from '../../db/tables.ts';
import { transact } from '../../db/transact.ts';
import { isStillOwn, type OwnRun, takenOver } from './own-run.ts';
import { countSeen, forgetSeenRows } from './seen-rows.ts';
import { type SyncRun, startRun } from './sync-runs.ts';

/**
 * An older run is not taken up: what it saw then says too little about what exists now, and its records would count
 * as seen although they may have vanished since.
 */
const RESUMABLE_HOURS = 6;

/**
 * What a run read before it was stopped proves something as long as it is no older than this. A run that is older goes
 * on all the same, since one that is stopped every hour must come to an end some day; but it ends unverified. Short,
 * because a longer time would only save a new run of a list that is read within it.
 */
const PROVING_MINUTES = 2;

export interface OpenedRun {
  readonly run: SyncRun;
  /** Why the run can no longer be verified, to be read after "unverified because"; null as a rule. */
  readonly doubt: string | null;
}

/**
 * Returns the run to work on: the latest one of the resource and mode if it stopped short, not long ago, at a
 * checkpoint; else a new one.
 *
 * A run that is taken up has its attempt number raised, so that its former process can commit nothing more. Where a
 * crash of Postgres emptied the seen rows, its checkpoint is dropped: the walk starts over.
 */
export async function openRun(
  db: Database,
  { resource, mode }: { resource: string; mode: RunMode },
): Promise<OpenedRun> {
  const resumed = await db
    .updateTable('sync_runs')
    .set({
      state: 'running',
      attempt: sql<number>`attempt + 1`,
      finished_at: null,
      error: null,
      error_code: null,
      heartbeat_at: sql<string>`clock_timestamp()`,
    })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('sync_runs')
        .select((latest) => latest.fn.max('id').as('id'))
        .where('resource', '=', resource)
        .where('state', '<>', 'skipped'),
    )
    .where('mode', '=', mode)
    .where('state', 'in', ['running', 'failed', 'interrupted'])
    .where('checkpoint', 'is not', null)
    .where('heartbeat_at', '>', sql<string>`clock_timestamp() - make_interval(hours => ${RESUMABLE_HOURS})`)
    .returningAll()
    // Nothing that a run read is older than the run.
    .returning(
      sql<boolean>`started_at < clock_timestamp() - make_interval(mins => ${PROVING_MINUTES})`.as(
        'is_outdated',
      ),
    )
    .executeTakeFirst();
  if (resumed !== undefined) return takeUp(db, resumed);
  await giveUpOldRuns(db, resource);
  return { run: await startRun(db, { resource, mode }), doubt: null };
}

async function takeUp(
  db: Database,
  { is_outdated, ...run }: SyncRun & { is_outdated: boolean },
): Promise<OpenedRun> {
  if ((await countSeen(db, run.id)) < run.distinct_seen) {
    return { run: await restartWalk(db, run), doubt: null };
  }
  return { run, doubt: is_outdated ? OUTDATED : null };
}

const OUTDATED =
  'it was resumed: what it had read before it was stopped was more than ' +
  `${PROVING_MINUTES} minutes old by then, and may have changed or vanished since`;

async function giveUpOldRuns(db: Database, resource: string): Promise<void> {
  await transact(db, async (trx) => {
    await trx
      .updateTable('sync_runs')
      .set({ state: 'interrupted', checkpoint: null, finished_at: sql<string>`clock_timestamp()` })
      .where('resource', '=', resource)
      .where('state', '=', 'running')
      .execute();
    await trx
      .deleteFrom('seen_rows')
      .where('run_id', 'in', (eb) => eb.selectFrom('sync_runs').select('id').where('resource', '=', resource))
      .execute();
  });
}

/**
 * Lets the run's walk begin anew, and returns the run as it is then: what it has seen and its checkpoint are deleted,
 * its figures stay. Idempotent: yes.
 *
 * Throws: Busy where the run has ended already, or another process has taken it over.
 */
export async function restartWalk(db: Database, run: OwnRun): Promise<SyncRun> {
  return transact(db, async (trx) => {
    const restarted = await trx
      .updateTable('sync_runs')
      .set({ checkpoint: null, distinct_seen: 0 })
      .where(isStillOwn(run))
      .returningAll()
      .executeTakeFirst();
    if (restarted === undefined) throw takenOver(run);
    await forgetSeenRows(trx, run.id);
    return restarted;
  });
}
