// What the metrics need of the database, read once for all scrapes at a time.

import { sql } from 'kysely';
import { onlyRow } from '../db/only-row.ts';
import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { memoize } from '../memoize.ts';
import { readMemoized } from '../reports/figure.ts';
import { type Concern, findConcerns } from '../reports/find-concerns.ts';
import { type Drift, readDrift } from '../reports/read-drift.ts';
import { type Growth, type GrowthDeps, readMemoizedGrowth } from '../reports/read-growth.ts';
import { type MirrorHealth, readHealth } from '../reports/read-health.ts';
import { readOldestPending } from '../reports/read-payment-sums.ts';
import { type EndedRuns, type RunStatus, readLatestRuns, readRunsOfLastDay } from '../reports/read-runs.ts';
import { readTracked, type TrackedStatus } from '../reports/read-tracked.ts';
import { within } from '../within.ts';

export interface Figures extends MirrorHealth {
  readonly latestRuns: readonly RunStatus[];
  readonly runsOfLastDay: readonly EndedRuns[];
  readonly drift: readonly Drift[];
  readonly oldestPendingSeconds: number | null;
  readonly tracked: TrackedStatus;
  readonly concerns: readonly Concern[];
  readonly growth: Growth;
  /** How long reading all of this took. */
  readonly readSeconds: number;
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
  { log, ...deps }: GrowthDeps & { log: Logger },
  { maxAgeSeconds }: { maxAgeSeconds: number },
): () => Promise<Figures | null> {
  // A reading that takes too long is waited for by the next scrape: they do not pile up.
  const ask = memoize(
    () => sql`select`.execute(deps.db),
    () => 0,
  );
  const readMemoizedFigures = memoize(
    () => readFigures(deps, maxAgeSeconds),
    (tookMs) => tookMs * KEPT_FOR_READINGS,
  );
  return async () => {
    try {
      return await within(READ_TIMEOUT_MS, ask().then(readMemoizedFigures));
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'metrics.database_away');
      return null;
    }
  };
}

async function readFigures(deps: GrowthDeps, maxAgeSeconds: number): Promise<Figures> {
  const beganMs = performance.now();
  const { health } = await readHealth(deps, readMemoized);
  const { growth } = await readMemoizedGrowth(deps);
  const oldest = await readOldestPending(deps);
  return {
    ...health,
    concerns: findConcerns(health, { maxAgeSeconds, growth }),
    latestRuns: (await readLatestRuns(deps)).rows,
    runsOfLastDay: (await readRunsOfLastDay(deps)).rows,
    drift: (await readDrift(deps)).rows,
    oldestPendingSeconds: oldest.rows[0]?.age_seconds ?? null,
    tracked: onlyRow(await readTracked(deps), 'commission_coverage'),
    growth,
    readSeconds: (performance.now() - beganMs) / 1000,
  };
}
