// The schedules: BullMQ ticks, Postgres remembers. Knows when something is due, and whose tick has been acted upon;
// not what the work is.
//
// Each tick is claimed by a row, so it is acted upon once however often BullMQ delivers it, and one that BullMQ lost
// (all workers were down, a Redis came back empty, a chain died) is made up for, once.

import { getNextMillis } from 'bullmq';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { ConfigError, describeError } from '../errors.ts';
import type { WorkQueue } from './backend.ts';
import type { WantedJob } from './wanted-jobs.ts';

export interface Schedule {
  readonly name: string;
  /** Cron, of five fields or, with seconds, six. */
  readonly pattern: string;
  readonly timezone: string;
  readonly wants: readonly WantedJob[];
}

/** The name of the tiny jobs that say: this schedule is due. */
export const TICK = 'tick';

const KEPT_TICKS = { removeOnComplete: { count: 50 }, removeOnFail: { count: 50 } };

export interface ScheduleDeps {
  readonly db: Database;
  readonly queue: WorkQueue;
}

/**
 * Resolves where every schedule has a next tick.
 *
 * Throws: ConfigError naming each that has none: well-formed, and yet never due (the 31st of February).
 */
export function checkSchedules(schedules: readonly Schedule[]): void {
  const problems = schedules.flatMap(({ name, pattern, timezone }) => {
    try {
      if (getNextMillis(Date.now(), { pattern, tz: timezone }) !== undefined) return [];
      return [`the schedule ${name} is never due: ${pattern}`];
    } catch (error) {
      return [`the schedule ${name} (${pattern}) is refused: ${describeError(error)}`];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/**
 * Makes BullMQ's schedulers the ones that are named, and removes all others. Idempotent: yes. The caller holds the
 * lock: on Postgres, racing calls deadlock, or leave a scheduler that never ticks again.
 */
export async function setSchedules(deps: ScheduleDeps, schedules: readonly Schedule[]): Promise<void> {
  for (const schedule of schedules) await setSchedule(deps, schedule);
  const names = schedules.map(({ name }) => name);
  for (const { key } of await deps.queue.getJobSchedulers()) {
    if (!names.includes(key)) await deps.queue.removeJobScheduler(key);
  }
  await sql`delete from schedules where name <> all (${names}::text[])`.execute(deps.db);
}

/** Sets the schedules anew that the queue has lost, or no longer moves; gives back their names. Under the lock. */
export async function reviveSchedules(
  deps: ScheduleDeps,
  schedules: readonly Schedule[],
  graceMs: number,
): Promise<string[]> {
  const revived: string[] = [];
  for (const schedule of schedules) {
    const found = await deps.queue.getJobScheduler(schedule.name);
    if (found?.next !== undefined && found.next > Date.now() - graceMs) continue;
    await setSchedule(deps, schedule);
    revived.push(schedule.name);
  }
  return revived;
}

async function setSchedule({ db, queue }: ScheduleDeps, schedule: Schedule): Promise<void> {
  const { name, pattern, timezone } = schedule;
  await queue.upsertJobScheduler(
    name,
    { pattern, tz: timezone },
    { name: TICK, data: { schedule: name }, opts: KEPT_TICKS },
  );
  await noteNext({ db, queue }, name);
}

/** Remembers when the schedule is due next, as BullMQ says. */
export async function noteNext({ db, queue }: ScheduleDeps, name: string): Promise<void> {
  const next = (await queue.getJobScheduler(name))?.next;
  if (next === undefined) return;
  await sql`
    insert into schedules (name, next_at) values (${name}, to_timestamp(${next / 1000}::float8))
    on conflict (name) do update set next_at = excluded.next_at
  `.execute(db);
}

/** Gives back whether this tick is the caller's to act upon; false where somebody has already. */
export async function claimTick(trx: Database, name: string, dueMs: number): Promise<boolean> {
  const { rows } = await sql`
    update schedules set last_tick_at = to_timestamp(${dueMs / 1000}::float8)
    where name = ${name} and (last_tick_at is null or last_tick_at < to_timestamp(${dueMs / 1000}::float8))
    returning name
  `.execute(trx);
  return rows.length > 0;
}

/** Gives back whether a tick was due longer ago than the grace and nobody acted upon it; it is then the caller's. */
export async function claimMissedTick(trx: Database, name: string, graceMs: number): Promise<boolean> {
  const { rows } = await sql`
    update schedules set last_tick_at = next_at
    where name = ${name} and next_at <= clock_timestamp() - make_interval(secs => ${graceMs / 1000})
      and (last_tick_at is null or last_tick_at < next_at)
    returning name
  `.execute(trx);
  return rows.length > 0;
}
