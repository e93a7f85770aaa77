// The schedules are BullMQ's job schedulers: the job of a tick adds the jobs of the due items. The last tick follows
// from the pattern and the database's clock, so a tick that comes twice, early, late or never does no harm.

import { ErrorCode, getNextMillis } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import { sql } from 'kysely';
import { describeError } from '../../base/describe-error.ts';
import { ConfigError } from '../../base/errors.ts';
import { offsetMs } from '../../contract/time-zone.ts';
import { CLOCK_TOLERANCE_MS } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import type { WorkQueue } from './backend.ts';
import { programOf, toQueued } from './queued-name.ts';
import type { Moment } from './worker-state.ts';

export interface Schedule {
  readonly name: string;
  /** Cron, of five fields or, with seconds, six. */
  readonly pattern: string;
  readonly timezone: string;
}

const DAY_MS = 86_400_000;
/** Longer than the hours that a change of the clocks repeats or leaves out. */
const CHANGE_MS = 3 * 3_600_000;

/** The name of the jobs of the schedulers; in the queue with the program's. */
export const TICK = 'tick';

/** Without this, the job of a tick that a clock ahead of its time ran early would be in the way of the true one. */
const TICK_REMOVAL = { removeOnComplete: true, removeOnFail: true };

/** A schedule whose next tick is overdue by more has stopped. */
const GRACE_MS = 10_000;

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

/** Returns the last tick that has come; null if it came before the mirror was made, or years ago. */
export function lastTick(schedule: Schedule, { nowMs, madeMs }: Omit<Moment, 'db'>): number | null {
  const last = tickUntil(schedule, nowMs);
  return last !== null && last > madeMs ? last : null;
}

// Going back, cron-parser names ticks that going forward it does not (in the hour that a change of the clocks repeats
// or leaves out); the scheduler goes forward. So: two back, and forward from there; if the clocks changed meanwhile,
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
  // prev() names a tick before its moment.
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

/** Returns the first tick after a moment; infinity if there is none. */
export function tickAfter({ pattern, timezone }: Pick<Schedule, 'pattern' | 'timezone'>, ms: number): number {
  return getNextMillis(ms, { pattern, tz: timezone }) ?? Number.POSITIVE_INFINITY;
}

/** Returns the tick in the schedule's zone, and in UTC: `2026-01-05 02:00 Europe/Berlin (01:00 UTC)`. */
export function describeTick({ timezone }: Pick<Schedule, 'timezone'>, ms: number): string {
  const [day, time] = clockAt(ms);
  if (timezone === 'UTC') return `${day} ${time} UTC`;
  const [localDay, localTime] = clockAt(ms + offsetMs(timezone, ms));
  return `${localDay} ${localTime} ${timezone} (${day === localDay ? '' : `${day} `}${time} UTC)`;
}

/** Returns day and time; the seconds only if there are any. */
function clockAt(ms: number): [string, string] {
  const text = new Date(ms).toISOString();
  return [text.slice(0, 10), text.slice(11, 19).replace(/:00$/, '')];
}

export interface ScheduleDeps {
  readonly db: Database;
  readonly queue: WorkQueue;
  /** The mirror's schema that the queue is named by. */
  readonly mirrorSchema: string;
}

/**
 * Sets the schedulers of BullMQ that are lost, differ from the schedules, have stopped or lie beyond their next tick,
 * and removes those that are gone: without `isGone`, none. One worker at a time does: on Postgres, racing calls
 * deadlock, or leave a scheduler that never ticks again. `nowMs` is the database's clock. Idempotent: yes.
 */
export async function keepSchedules(
  { db, queue, mirrorSchema }: ScheduleDeps,
  schedules: readonly Schedule[],
  nowMs: number,
  isGone?: (name: string) => boolean,
): Promise<void> {
  const found =
    isGone === undefined
      ? await Promise.all(schedules.map(({ name }) => queue.getJobScheduler(name)))
      : await queue.getJobSchedulers();
  const wrong = schedules.filter((schedule) => {
    const { pattern, tz, next = 0 } = found.find((one) => one?.key === schedule.name) ?? {};
    const isOther = pattern !== schedule.pattern || tz !== schedule.timezone;
    return isOther || next < nowMs - GRACE_MS || next > tickAfter(schedule, nowMs + CLOCK_TOLERANCE_MS);
  });
  const gone = found.flatMap((one) => (one !== undefined && isGone?.(one.key) === true ? [one.key] : []));
  if (wrong.length + gone.length === 0) return;
  const lock = `affiliate-mirror schedules of ${mirrorSchema}`;
  await transact(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx);
    for (const schedule of wrong) await setSchedule(queue, schedule);
    for (const name of gone) await queue.removeJobScheduler(name);
  });
}

async function setSchedule(queue: WorkQueue, { name, pattern, timezone }: Schedule): Promise<void> {
  try {
    const template = { name: toQueued(programOf(name), TICK), opts: TICK_REMOVAL };
    await queue.upsertJobScheduler(name, { pattern, tz: timezone }, template);
  } catch (error) {
    // A worker whose clock is ahead of ours by a moment has the job of its next tick, and moves it on.
    const isUnderWay =
      error instanceof Error && 'code' in error && error.code === ErrorCode.SchedulerJobIdCollision;
    if (!isUnderWay) throw error;
  }
}
