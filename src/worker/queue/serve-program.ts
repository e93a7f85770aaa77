// One program of a worker from its first round to its last.

import type { Logger } from '../../base/log.ts';
import { readClock } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { makeDueItems } from './due-items.ts';
import { type JobKeeper, type KeepDeps, keepJobs } from './keep-jobs.ts';
import type { JobOwner } from './process-job.ts';
import { makeProgramWatch } from './program-watch.ts';
import { toQueued } from './queued-name.ts';
import { checkSchedules, describeTick, keepSchedules, type Schedule, tickAfter } from './schedules.ts';
import type { ServedProgram } from './served-program.ts';
import { makeStartRetry } from './start-retry.ts';
import type { Timings } from './timings.ts';

export interface ServeDeps extends Omit<KeepDeps, 'program' | 'watch'> {
  readonly db: Database;
  readonly log: Logger;
  readonly mirrorSchema: string;
}

/** A program that is served, as the worker needs it. */
export interface Served extends JobOwner, Pick<JobKeeper, 'compareAnew'> {
  /** As the queue names them. */
  readonly schedules: readonly Schedule[];
  /** Resolves once no round is under way. Idempotent: yes. */
  stopRounds(): Promise<void>;
}

/**
 * Returns the program, of which the first round is done, and the promise of Serving.
 *
 * Throws: ConfigError if a schedule is never due; the errors of the database; the signal's reason when aborted.
 */
export async function serveProgram(
  program: ServedProgram,
  deps: ServeDeps,
  timings: Timings,
  signal: AbortSignal,
): Promise<{ served: Served; ended: Promise<void> }> {
  const { name, db, log, sources } = program;
  const { backend, mirrorSchema } = deps;
  const own = sources.flatMap((source) => source.schedules);
  checkSchedules(own);
  const schedules = own.map((schedule) => ({ ...schedule, name: toQueued(name, schedule.name) }));
  const watch = makeProgramWatch(program, timings);
  const keeper = keepJobs({ ...deps, program, watch }, timings);
  const retry = makeStartRetry({ log }, signal);
  await retry(async () => {
    await backend.check();
    const { nowMs } = await readClock(db);
    await keepSchedules({ db: deps.db, queue: backend.queue, mirrorSchema }, schedules, nowMs);
    await keeper.setUp(signal);
  });
  const about = { queue: backend.kind, schedules: own.map(describeSchedule) };
  if (name === null) log.info(about, 'worker.started');
  else log.info(about, 'program.served');
  const { wake, compareAnew, stop: stopRounds } = keeper;
  const served = {
    name,
    log,
    sources,
    schedules,
    due: makeDueItems(db),
    watch,
    wake,
    compareAnew,
    stopRounds,
  };
  return { served, ended: keeper.run() };
}

function describeSchedule(schedule: Schedule): string {
  const { name, pattern } = schedule;
  const next = tickAfter(schedule, Date.now());
  // It cannot be counted through some changes of the clocks (checkSchedules).
  return Number.isFinite(next)
    ? `${name} ${pattern}, next at ${describeTick(schedule, next)}`
    : `${name} ${pattern}`;
}
