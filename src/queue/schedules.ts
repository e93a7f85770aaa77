// The schedules: BullMQ ticks, and Postgres remembers when each is due next and which tick was acted upon last.
//
// Each tick is claimed by a row, so it is acted upon once however often BullMQ delivers it, and one that BullMQ lost
// (all workers were down, a Redis came back empty, a chain broke) is made up for, once. BullMQ computes ticks by the
// clock of a worker's machine: what one whose clock was ahead wrote is corrected.

import { getNextMillis } from 'bullmq';
import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import { CLOCK_TOLERANCE_MS } from '../db/clock.ts';
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

/** None is kept: the job of a tick that a clock ahead of its time ran early would be in the way of the true one. */
const KEPT_TICKS = { removeOnComplete: true, removeOnFail: true };

export interface ScheduleDeps {
  readonly db: Database;
  readonly queue: WorkQueue;
}

/**
 * Checks that every schedule has a next tick.
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

/**
 * Sets the schedules anew that the queue has lost, no longer moves, or puts off beyond their next tick. Returns their
 * names. The caller holds the lock; `nowMs` is the database's clock.
 */
export async function reviveSchedules(
  deps: ScheduleDeps,
  schedules: readonly Schedule[],
  { nowMs, graceMs }: { nowMs: number; graceMs: number },
): Promise<string[]> {
  const revived: string[] = [];
  for (const schedule of schedules) {
    const found = await deps.queue.getJobScheduler(schedule.name);
    const next = found?.next ?? Number.NEGATIVE_INFINITY;
    const latest = tickAfter(cronOf(found, schedule), nowMs + CLOCK_TOLERANCE_MS);
    if (next > nowMs - graceMs && next <= latest) continue;
    await setSchedule(deps, schedule);
    revived.push(schedule.name);
  }
  return revived;
}

/**
 * Corrects what the table says of ticks that cannot be yet: none was acted upon in the future, and the next is the
 * first after the last. (Past by now, it was missed.) Returns the names of those schedules. The caller holds the lock;
 * `nowMs` is the database's clock.
 */
export async function moveBackTicks(
  { db, queue }: ScheduleDeps,
  schedules: readonly Schedule[],
  nowMs: number,
): Promise<string[]> {
  const latestNow = nowMs + CLOCK_TOLERANCE_MS;
  const { rows } = await sql<{ name: string; next_at: Timestamp; last_tick_at: Timestamp | null }>`
    select name, next_at, last_tick_at from schedules`.execute(db);
  const movedBack: string[] = [];
  for (const schedule of schedules) {
    const row = rows.find(({ name }) => name === schedule.name);
    if (row === undefined) continue;
    const cron = cronOf(await queue.getJobScheduler(schedule.name), schedule);
    const lastMs = row.last_tick_at === null ? nowMs : Date.parse(row.last_tick_at);
    if (lastMs <= latestNow && Date.parse(row.next_at) <= tickAfter(cron, latestNow)) continue;
    const next = tickAfter(cron, Math.min(lastMs, nowMs));
    await sql`
      update schedules set next_at = to_timestamp(${next / 1000}::float8),
        last_tick_at = least(last_tick_at, to_timestamp(${nowMs / 1000}::float8))
      where name = ${schedule.name}
    `.execute(db);
    movedBack.push(schedule.name);
  }
  return movedBack;
}

interface Cron {
  readonly pattern: string;
  readonly tz: string;
}

// What BullMQ goes by: a worker of another version may have set it to something else than we would.
function cronOf(
  found: { readonly pattern?: string; readonly tz?: string } | undefined,
  { pattern, timezone }: Schedule,
): Cron {
  return { pattern: found?.pattern ?? pattern, tz: found?.tz ?? timezone };
}

function tickAfter(cron: Cron, ms: number): number {
  return getNextMillis(ms, cron) ?? Number.POSITIVE_INFINITY;
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

/** Returns whether this tick is the caller's to act upon; false where somebody has already, or it is not due yet. */
export async function claimTick(trx: Database, name: string, dueMs: number): Promise<boolean> {
  const { rows } = await sql`
    update schedules set last_tick_at = due
    from to_timestamp(${dueMs / 1000}::float8) as due
    where name = ${name} and (last_tick_at is null or last_tick_at < due)
      and due <= clock_timestamp() + make_interval(secs => ${CLOCK_TOLERANCE_MS / 1000})
    returning name
  `.execute(trx);
  return rows.length > 0;
}

/** Returns whether a tick was due longer ago than the grace and nobody acted upon it; it is then the caller's. */
export async function claimMissedTick(trx: Database, name: string, graceMs: number): Promise<boolean> {
  const { rows } = await sql`
    update schedules set last_tick_at = next_at
    where name = ${name} and next_at <= clock_timestamp() - make_interval(secs => ${graceMs / 1000})
      and (last_tick_at is null or last_tick_at < next_at)
    returning name
  `.execute(trx);
  return rows.length > 0;
}
