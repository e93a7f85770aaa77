// The source `sync`: after each tick of a schedule, every listed resource is synced once, and in full if a user
// accepted deletions of it. The run log says whether it was.

import type { ApiClient } from '../../api/client.ts';
import type { Logger } from '../../base/log.ts';
import type { ProgramConfig } from '../../config/config.ts';
import type { ListedResource } from '../../contract/resources.ts';
import type { Database } from '../../db/database.ts';
import type { Treatment } from '../../decode/treatment.ts';
import { listAccepted } from '../../mirror/held-back.ts';
import { readUsedLists } from '../../mirror/optional-lists.ts';
import { listSyncedSince, listTriedSince, wasSyncBegunSince } from '../../mirror/runs/whole-runs.ts';
import type { RunSummary, SyncMode, SyncProgress } from '../../sync/run-summary.ts';
import { runSync } from '../../sync/run-sync.ts';
import {
  type Item,
  type JobContext,
  type JobOutcome,
  type JobSource,
  PRIORITY,
} from '../queue/job-source.ts';
import { lastTick, type Schedule } from '../queue/schedules.ts';
import type { Timings } from '../queue/timings.ts';

/** While another process syncs it, the job tries again after half of the time waited so far, at most this. */
const LONGEST_WAIT_MS = 600_000;
const PRIORITIES = { full: PRIORITY.fullSyncs, delta: PRIORITY.deltas } as const;

export interface SyncSchedule extends Schedule {
  readonly mode: SyncMode;
}

/** Returns the schedules that the configuration asks for. Full first: it finds what a delta cannot. */
export function makeSchedules({ full, delta, timezone }: ProgramConfig['schedules']): SyncSchedule[] {
  const patterns = [
    { mode: 'full', pattern: full },
    { mode: 'delta', pattern: delta },
  ] as const;
  return patterns.flatMap(({ mode, pattern }) =>
    pattern === null ? [] : [{ name: `sync-${mode}`, mode, pattern, timezone }],
  );
}

/** Counts the runs of this process. */
export interface RunMeter {
  /** Called with every batch that was committed. */
  progressed(progress: SyncProgress): void;
  /** Called with every run that ended, however it did. */
  ended(run: RunSummary): void;
}

export interface SyncSourceDeps {
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  readonly treatment?: Treatment;
  readonly meter?: RunMeter;
}

export interface SyncSourceOptions {
  readonly schedules: readonly SyncSchedule[];
}

/**
 * Returns the source. A full run finds everything that a delta finds: after it, no delta is due for the same tick. A
 * sync that was given up is due again with the next tick of its schedule.
 *
 * A resource is read once the one before it was tried: if affiliates fail, the others are synced all the same. A delta
 * of referrals then finds only new ones at the head, since no counter moves; it is due again once affiliates were
 * synced after its tick (listSyncedSince).
 */
export function makeSyncSource(
  { meter, ...deps }: SyncSourceDeps,
  { schedules }: SyncSourceOptions,
  { handBackMs }: Pick<Timings, 'handBackMs'>,
): JobSource {
  // While another process syncs the resource, the job waits, and then asks again whether it is due. It does not count
  // on that run: its worker may hang, and then the work would be lost.
  const sync = async (
    resource: ListedResource,
    mode: SyncMode,
    { signal, waitedMs }: JobContext,
  ): Promise<JobOutcome> => {
    const options = { resource, mode, acceptDeletes: false, signal };
    const onStopped = (run: RunSummary) => meter?.ended(run);
    const onProgress = (progress: SyncProgress) => meter?.progressed(progress);
    const run = await runSync({ ...deps, onProgress, onStopped }, options);
    meter?.ended(run);
    if (run.state !== 'skipped') return { kind: 'done' };
    return { kind: 'later', waitMs: Math.min(LONGEST_WAIT_MS, Math.max(handBackMs * 10, waitedMs / 2)) };
  };
  return {
    name: 'sync',
    needsProgram: true,
    schedules,
    async findDue(moment) {
      const { db } = moment;
      const due: Item[] = [];
      // Affiliates first: their counters say what a delta of referrals looks for.
      const resources = await readUsedLists(db);
      for (const { resource, atMs } of await listAccepted(db)) {
        if (!resources.includes(resource)) continue;
        if (await wasSyncBegunSince(db, resource, atMs)) continue;
        const id = `sync-${resource}-accepted-${atMs}`;
        const run = (context: JobContext) => sync(resource, 'full', context);
        due.push({ id, subject: `sync-${resource}`, priority: PRIORITY.fullSyncs, run });
      }
      for (const schedule of schedules) {
        const { mode } = schedule;
        const tickMs = lastTick(schedule, moment);
        if (tickMs === null) continue;
        const synced = await listSyncedSince(db, mode, tickMs);
        const tried = synced.length < resources.length ? await listTriedSince(db, mode, tickMs) : [];
        let mayBegin = true;
        for (const resource of resources.filter((one) => !synced.includes(one))) {
          due.push({
            id: `sync-${resource}-${mode}-${tickMs}`,
            subject: `sync-${resource}`,
            priority: PRIORITIES[mode],
            mayBegin,
            run: (context) => sync(resource, mode, context),
          });
          mayBegin &&= tried.includes(resource);
        }
      }
      return due;
    },
  };
}
