// What the metrics need of the database, all of it read by the reports' readers, once for everybody who asks meanwhile.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { type Concern, findConcerns } from '../reports/find-concerns.ts';
import { readKeptGrowth } from '../reports/kept-growth.ts';
import type { DiskSpace } from '../reports/read-growth.ts';
import { type MirrorHealth, readHealth } from '../reports/read-health.ts';
import {
  type EndedRuns,
  type LatestRun,
  readLatestRuns,
  readRunsOfLastDay,
} from '../reports/read-latest-runs.ts';
import { readOldestPendingSeconds } from '../reports/read-oldest-pending.ts';
import { readSizes, type Sizes } from '../reports/read-sizes.ts';
import { type DriftStatus, readDrift } from '../reports/read-status.ts';
import { readTracked, type TrackedStatus } from '../reports/read-tracked.ts';
import { readRememberedList } from '../reports/remembered-list.ts';
import { within } from '../within.ts';

export interface Figures extends MirrorHealth {
  readonly latestRuns: readonly LatestRun[];
  readonly runsOfLastDay: readonly EndedRuns[];
  readonly drift: readonly DriftStatus[];
  readonly oldestPendingSeconds: number | null;
  readonly tracked: TrackedStatus;
  readonly concerns: readonly Concern[];
  readonly sizes: Sizes;
  /** How long reading all of this took. */
  readonly readSeconds: number;
}

export interface FiguresDeps {
  readonly db: Database;
  readonly mirrorSchema: string;
  /** Returns what the database may grow into; null where nobody knows. */
  readonly readSpace: () => Promise<DiskSpace | null>;
}

/** Prometheus waits ten seconds for a scrape unless it is configured otherwise. */
const READ_TIMEOUT_MS = 5000;
/** Figures are kept this many times as long as reading them took: scrapes never cost more than 2 % of a core. */
const KEPT_FOR_READINGS = 50;

/**
 * Returns the function that returns the figures, read no longer ago than they are kept; null where the database does
 * not answer. It is asked each time, for kept figures too: that it answered a while ago says nothing about now.
 */
export function makeReadFigures(
  { log, ...deps }: FiguresDeps & { log: Logger },
  { maxAgeSeconds }: { maxAgeSeconds: number },
): () => Promise<Figures | null> {
  let kept: { readonly figures: Figures; readonly untilMs: number } | null = null;
  let reading: Promise<Figures> | null = null;
  const readOnce = async (): Promise<Figures> => {
    try {
      if (kept !== null && performance.now() < kept.untilMs) {
        await sql`select`.execute(deps.db);
        return kept.figures;
      }
      const figures = await readFigures(deps, maxAgeSeconds);
      kept = { figures, untilMs: performance.now() + figures.readSeconds * 1000 * KEPT_FOR_READINGS };
      return figures;
    } finally {
      reading = null;
    }
  };
  return async () => {
    // A reading that takes too long is waited for by the next scrape: they do not pile up.
    reading ??= readOnce();
    try {
      return await within(READ_TIMEOUT_MS, reading);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'metrics.database_away');
      return null;
    }
  };
}

async function readFigures(
  { db, mirrorSchema, readSpace }: FiguresDeps,
  maxAgeSeconds: number,
): Promise<Figures> {
  const beganMs = performance.now();
  const health = await readHealth(db, readRememberedList);
  const { growth } = await readKeptGrowth({ db, mirrorSchema, readSpace });
  return {
    ...health,
    concerns: findConcerns(health, { maxAgeSeconds, growth }),
    latestRuns: await readLatestRuns(db),
    runsOfLastDay: await readRunsOfLastDay(db),
    drift: await readDrift(db),
    oldestPendingSeconds: await readOldestPendingSeconds(db),
    tracked: await readTracked(db),
    sizes: await readSizes(db),
    readSeconds: (performance.now() - beganMs) / 1000,
  };
}
