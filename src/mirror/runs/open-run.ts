// Begins a run, resumes one that was stopped or killed, or restarts its walk. The caller holds the lock of the
// resource, so a run with the state running in the run log has no process any more.

import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { RunMode } from '../../db/tables.ts';
import { transact } from '../../db/transact.ts';
import { countSeen, forgetSeenRows } from './seen-rows.ts';
import { changeRun, type OwnRun, type SyncRun, startRun } from './sync-runs.ts';

/** An older run is not resumed: the records that it saw may be deleted by now, and would count as seen. */
const RESUMABLE_HOURS = 6;

/**
 * A run that is resumed later than this after its start ends unverified. It is resumed nevertheless, because a run that
 * is stopped every hour must end at some time. Short, because a longer time would only save a new run of a list that is
 * read within it.
 */
const PROVING_MINUTES = 2;

export interface OpenedRun {
  readonly run: SyncRun;
  /** Why the run cannot be verified any more, to follow "unverified because"; null as a rule. */
  readonly doubt: string | null;
}

/**
 * Returns the run to work on: the latest one of the resource and mode if it stopped a short time ago at a checkpoint;
 * else a new one.
 *
 * A resumed run gets a higher attempt number, so that its former process can commit nothing more. If a crash of
 * Postgres emptied the seen rows, the walk starts over.
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
      failed_at: sql<string>`coalesce(failed_at, case when state = 'failed' then finished_at end)`,
      unanswered_since: null,
      unanswered_attempt: null,
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
    // All that a run read is younger than its start.
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
      .set({
        state: 'interrupted',
        error: 'its process ended without noting why: it was killed, or could not write to the database',
        checkpoint: null,
        finished_at: sql<string>`clock_timestamp()`,
      })
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
 * Deletes the run's checkpoint and seen rows, so that its walk starts over, and returns it. Its figures stay.
 * Idempotent: yes. Throws: as changeRun.
 */
export async function restartWalk(db: Database, run: OwnRun): Promise<SyncRun> {
  return transact(db, async (trx) => {
    const restarted = await changeRun(trx, run, { checkpoint: null, distinct_seen: 0 });
    await forgetSeenRows(trx, run.id);
    return restarted;
  });
}
