// The metrics as Prometheus reads them: the recorders' counters, and gauges of each program and of the process.
//
// The figures of a program that the environment describes are read for each scrape, as are those of a listed one that a
// scrape names. A scrape of all listed programs takes the figures that were read in the background, and of programs at
// rest only what alert rules read: of a hundred programs, most rest.

import { sql } from 'kysely';
import { describeError } from '../../base/describe-error.ts';
import type { Logger } from '../../base/log.ts';
import { memoize } from '../../base/memoize.ts';
import { within } from '../../base/within.ts';
import type { Database } from '../../db/database.ts';
import { isAtRest, type ObservedProgram } from '../observed-program.ts';
import type { FigureCache } from './figure-cache.ts';
import type { MetricSettings, ProgramReading } from './metric.ts';
import { PROCESS_METRICS } from './process-metrics.ts';
import { type Figures, makeReadFigures } from './read-figures.ts';
import { COUNTERS, type Shown } from './recorder.ts';
import { CONTENT_TYPE, makeWriteProcess, makeWritePrograms, PROGRAM_METRICS } from './registries.ts';

export interface MetricsDeps {
  /** On any schema: asks whether the database answers. */
  readonly db: Database;
  readonly log: Logger;
  readonly programs: () => readonly ObservedProgram[];
  /** Of the listed programs. */
  readonly figures: FigureCache;
  /** The jobs of the queue by state. May wait for as long as the queue is away. */
  readonly countJobs: () => Promise<Readonly<Record<string, number>>>;
  /** Whether PROGRAMS_FILE is refused; null without one. */
  readonly isFileRefused: () => boolean | null;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

export const METRICS = [
  ...Object.entries(COUNTERS).map(([name, { help, labels }]) => ({
    ...{ name, type: 'counter', help },
    labels: Object.keys(labels),
  })),
  ...[...PROGRAM_METRICS, ...PROCESS_METRICS].map(({ name, help, labels = [] }) => ({
    ...{ name, type: 'gauge', help, labels },
  })),
];

/** A Redis that is away does not answer at all. Prometheus waits ten seconds unless it is configured otherwise. */
const ANSWERS_WITHIN_MS = 5000;

/**
 * Returns the function that answers a scrape: of one listed program if it is named (null if there is none of that
 * name), otherwise of all programs and the process. While the database or the queue is away, its metrics have no
 * samples, and `database_up` or `queue_up` is 0.
 */
export function makeMetrics(
  deps: MetricsDeps,
  settings: MetricSettings,
): (only?: string) => Promise<MetricsText | null> {
  const { log, countJobs, programs, isFileRefused } = deps;
  const readEach = makeReadEach(deps, settings);
  const readJobs = async () => {
    try {
      return await within(ANSWERS_WITHIN_MS, countJobs());
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'metrics.queue_away');
      return null;
    }
  };
  const writePrograms = makeWritePrograms();
  const writeProcess = makeWriteProcess();
  return async (only) => {
    if (only !== undefined) {
      const named = programs().filter(({ name }) => name === only);
      if (named.length === 0) return null;
      const { readings } = await readEach(named, () => true);
      return { contentType: CONTENT_TYPE, text: await writePrograms(readings, () => 'now') };
    }
    const isReadNow = ({ name }: ObservedProgram) => name === null;
    const [read, jobs] = await Promise.all([readEach(programs(), isReadNow), readJobs()]);
    const texts = [
      await writePrograms(read.readings, shownOf),
      await writeProcess({ ...read, jobs, isFileRefused: isFileRefused(), settings }),
    ];
    return { contentType: CONTENT_TYPE, text: texts.join('\n') };
  };
}

function shownOf({ program: { name, recorder }, figures }: ProgramReading): Shown {
  if (name === null) return 'now';
  return isAtRest(recorder, figures) ? 'rules' : 'all';
}

interface EachReading {
  readonly isDatabaseUp: boolean;
  readonly readings: readonly ProgramReading[];
}

function makeReadEach({ db, log, figures: cache }: MetricsDeps, { maxAgeSeconds }: MetricSettings) {
  // The next scrape waits for an answer that takes too long: they do not pile up.
  const ask = memoize(
    () => sql`select`.execute(db),
    () => 0,
  );
  const readers = new WeakMap<Database, () => Promise<Figures>>();
  const readNow = (program: ObservedProgram): Promise<Figures> => {
    const read = readers.get(program.db) ?? makeReadFigures(program, maxAgeSeconds);
    readers.set(program.db, read);
    return read();
  };
  return async (
    programs: readonly ObservedProgram[],
    isReadNow: (program: ObservedProgram) => boolean,
  ): Promise<EachReading> => {
    const read = async (program: ObservedProgram): Promise<ProgramReading> =>
      isReadNow(program)
        ? { program, figures: await readNow(program), ageSeconds: program.name === null ? null : 0 }
        : { program, ...cache.get(program.db) };
    try {
      const reading = ask().then(() => Promise.all(programs.map(read)));
      return { isDatabaseUp: true, readings: await within(ANSWERS_WITHIN_MS, reading) };
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'metrics.database_away');
      const readings = programs.map((program) => ({ program, figures: null, ageSeconds: null }));
      return { isDatabaseUp: false, readings };
    }
  };
}
