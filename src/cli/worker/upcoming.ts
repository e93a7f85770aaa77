// The schedules of a worker with their next ticks, for its page and for `doctor`.

import { describeTick, type Schedule, tickAfter } from '../../worker/queue/schedules.ts';
import { makeSchedules } from '../../worker/sources/sync-job.ts';
import type { Program } from '../program.ts';

type Scheduled = Pick<Program, 'schedules'> & {
  readonly process: Pick<Program['process'], 'scheduledExports'>;
};

export interface KnownSchedule extends Schedule {
  /** Such as: full sync. */
  readonly what: string;
  /** The variable with its pattern. */
  readonly variable: string;
}

export interface UpcomingTick extends KnownSchedule {
  readonly atMs: number;
  /** In the schedule's time zone, and in UTC. */
  readonly moment: string;
}

export function listSchedules({ schedules, process: { scheduledExports } }: Scheduled): KnownSchedule[] {
  const syncs = makeSchedules(schedules).map((schedule) => ({ ...schedule, ...SYNCS[schedule.mode] }));
  if (scheduledExports === null) return syncs;
  const { pattern, timezone } = scheduledExports;
  return [...syncs, { name: 'export', pattern, timezone, what: 'Export', variable: 'EXPORT_CRON' }];
}

/** Returns the next tick of every schedule after the moment, the soonest first. */
export function listUpcoming(program: Scheduled, nowMs: number): UpcomingTick[] {
  return listSchedules(program)
    .map((schedule) => ({ ...schedule, atMs: tickAfter(schedule, nowMs) }))
    .filter(({ atMs }) => Number.isFinite(atMs))
    .toSorted((a, b) => a.atMs - b.atMs)
    .map((tick) => ({ ...tick, moment: describeTick(tick, tick.atMs) }));
}

const SYNCS = {
  full: { what: 'Full sync: everything is read', variable: 'SYNC_FULL_CRON' },
  delta: { what: 'Delta sync: what changed is read', variable: 'SYNC_DELTA_CRON' },
} as const;
