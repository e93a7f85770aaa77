// What tests of the metrics need: a scrape of metrics over a database, and its lines.

import { makeLogger } from '../../../src/base/log.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { makeFigureCache } from '../../../src/observe/metrics/figure-cache.ts';
import { type MetricsDeps, makeMetrics } from '../../../src/observe/metrics/make-metrics.ts';
import { makeRecorder, type Recorder } from '../../../src/observe/metrics/recorder.ts';
import type { ObservedProgram } from '../../../src/observe/observed-program.ts';

export interface Scraper {
  readonly recorder: Recorder;
  /** Returns what Prometheus would be answered. */
  scrape(): Promise<string>;
}

const SETTINGS = { version: '1.2.3', maxAgeSeconds: 26 * 3600 };

/** Returns the metrics of a worker on that database whose queue has one job waiting. */
export function makeScraper(pool: Pool, deps: Partial<MetricsDeps> = {}): Scraper {
  const recorder = makeRecorder();
  const countJobs = async () => ({ waiting: 1, active: 0 });
  const log = makeLogger('silent');
  const db = makeDatabase(pool);
  const program = observe(db, { log, recorder });
  const figures = makeFigureCache();
  const read = makeMetrics(
    { db, log, programs: () => [program], figures, countJobs, isFileRefused: () => null, ...deps },
    SETTINGS,
  );
  return { recorder, scrape: async () => (await read())?.text ?? '' };
}

/** Returns a program that the environment describes. */
export function observe(db: Database, more: Partial<ObservedProgram> = {}): ObservedProgram {
  return {
    ...{ name: null, db, mirrorSchema: 'mirror', log: makeLogger('silent'), recorder: makeRecorder() },
    rateLimit: { requests: 45, windowSeconds: 30 },
    readSpace: async () => null,
    state: () => 'serving',
    ...more,
  };
}

/** Returns the value of a series, written as Prometheus shows it; null where it is not there. */
export function readValue(text: string, series: string): number | null {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

/** Returns the names of all metrics that the scrape describes. */
export function namesOf(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
}
