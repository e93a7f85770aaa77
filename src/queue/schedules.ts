// The schedules: BullMQ is the alarm clock, which has a worker look at what is due. Which tick was the last is asked of
// the pattern and the database's clock, so an alarm that rings twice, early, late or never does no harm.

import { ErrorCode, getNextMillis } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import { offsetMs } from '../config/time-zone.ts';
import { CLOCK_TOLERANCE_MS } from '../db/clock.ts';
import { describeError } from '../describe-error.ts';
import { ConfigError } from '../errors.ts';
import { sleep } from '../sleep.ts';
import type { WorkQueue } from './queue-server.ts';
import type { Moment } from './worker-state.ts';

export interface Schedule {
  readonly name: string;
  /** Cron, of five fields or, with seconds, six. */
  readonly pattern: string;
  readonly timezone: string;
}

const DAY_MS = 86_400_000;
/** Longer than what a change of the clocks repeats or leaves out. */
const CHANGE_MS = 3 * 3_600_000;

/** The name of the jobs that only have a worker look: they carry nothing. */
export const TICK = 'tick';

/** None is kept: the job of a tick that a clock ahead of its time ran early would be in the way of the true one. */
const KEPT_TICKS = { removeOnComplete: true, removeOnFail: true };

/** The wait before a schedule is set again whose next tick is under way. */
const AGAIN_AFTER_MS = 50;
/** Two clocks differ by less: each by less than the tolerance from the database's. */
const LONGEST_UNDER_WAY_MS = 2 * CLOCK_TOLERANCE_MS;

/**
 * Checks that every schedule has a next tick.
 *
 * Throws: ConfigError naming each that has none: well-formed, and yet never due (the 31st of February).
 */
export function checkSchedules(schedules: readonly Schedule[]): void {
  const problems = schedules.flatMap(({ name, pattern, timezone }) => {
    try {
      // cron-parser gives up on a day whose change of the clocks it cannot count through (Lord Howe, two o'clock).
      const isDue = [0, 2].some(
        (days) => tickAfter({ pattern, timezone }, Date.now() + days * DAY_MS) < Infinity,
      );
      if (isDue) return [];
      return [`the schedule ${name} is never due: ${pattern}`];
    } catch (error) {
      return [`the schedule ${name} (${pattern}) is refused: ${describeError(error)}`];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Returns the last tick that has come; null where it came before the mirror was made, or years ago. */
export function lastTick(schedule: Schedule, { nowMs, madeMs }: Moment): number | null {
  const last = tickUntil(schedule, nowMs);
  return last !== null && last > madeMs ? last : null;
}

// Going back, cron-parser names ticks that going forward it does not (in the hour that a change of the clocks repeats
// or leaves out); the alarm goes forward. So: two back, and forward from there; where the clocks changed meanwhile,
// from before the hours that the change is about.
function tickUntil(schedule: Schedule, ms: number): number | null {
  let last: number | null = null;
  const near = twoTicksBefore(schedule, ms) - 1;
  const far = near - CHANGE_MS;
  const hasChange = offsetMs(schedule.timezone, far) !== offsetMs(schedule.timezone, ms);
  let next = tickAfter(schedule, hasChange ? far : near);
  while (next <= ms) {
    last = next;
    next = tickAfter(schedule, next);
  }
  return last;
}

function twoTicksBefore({ pattern, timezone }: Schedule, ms: number): number {
  // What it names is before the moment that it is given.
  const ticks = CronExpressionParser.parse(pattern, { currentDate: ms + 1, tz: timezone });
  let before = ms;
  try {
    before = ticks.prev().getTime();
    before = ticks.prev().getTime();
  } catch {
    // It gives up on a tick that is years ago. The pattern itself was checked at the start.
  }
  return before;
}

/** Returns the first tick after a moment; infinity where there is none. */
export function tickAfter({ pattern, timezone }: Pick<Schedule, 'pattern' | 'timezone'>, ms: number): number {
  return getNextMillis(ms, { pattern, tz: timezone }) ?? Number.POSITIVE_INFINITY;
}

/**
 * Makes BullMQ's schedulers the ones that are named, and removes all others. Idempotent: yes. The caller holds the
 * lock: on Postgres, racing calls deadlock, or leave a scheduler that never ticks again.
 *
 * Throws: the signal's reason when aborted; what the queue throws.
 */
export async function setSchedules(
  queue: WorkQueue,
  schedules: readonly Schedule[],
  signal: AbortSignal,
): Promise<void> {
  for (const schedule of schedules) await setSchedule(queue, schedule, signal);
  const names = schedules.map(({ name }) => name);
  for (const { key } of await queue.getJobSchedulers()) {
    if (!names.includes(key)) await queue.removeJobScheduler(key);
  }
}

/**
 * Sets the schedules anew that the queue has lost, no longer moves, or puts off beyond their next tick. Returns their
 * names. The caller holds the lock; `nowMs` is the database's clock.
 *
 * Throws: as setSchedules.
 */
export async function reviveSchedules(
  queue: WorkQueue,
  schedules: readonly Schedule[],
  { nowMs, graceMs }: { nowMs: number; graceMs: number },
  signal: AbortSignal,
): Promise<string[]> {
  const revived: string[] = [];
  for (const schedule of schedules) {
    const found = await queue.getJobScheduler(schedule.name);
    const next = found?.next ?? Number.NEGATIVE_INFINITY;
    // A worker of another version may have set it to something else than we would.
    const cron = { pattern: found?.pattern ?? schedule.pattern, timezone: found?.tz ?? schedule.timezone };
    if (next > nowMs - graceMs && next <= tickAfter(cron, nowMs + CLOCK_TOLERANCE_MS)) continue;
    await setSchedule(queue, schedule, signal);
    revived.push(schedule.name);
  }
  return revived;
}

/**
 * BullMQ refuses to set a schedule to a tick whose job is under way: what another worker took, whose clock is ahead of
 * ours by a moment or a little more, is by our clock still to come. The job ends in a moment. Where its worker died,
 * the tick has soon come by our clock as well, and the next is another.
 */
async function setSchedule(
  queue: WorkQueue,
  { name, pattern, timezone }: Schedule,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + LONGEST_UNDER_WAY_MS;
  for (;;) {
    try {
      await queue.upsertJobScheduler(name, { pattern, tz: timezone }, { name: TICK, opts: KEPT_TICKS });
      return;
    } catch (error) {
      if (!isUnderWay(error) || performance.now() > until) throw error;
    }
    await sleep(AGAIN_AFTER_MS, signal);
  }
}

function isUnderWay(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === ErrorCode.SchedulerJobIdCollision;
}
