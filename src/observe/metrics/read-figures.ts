// The figures of the database for the metrics, read once for all concurrent scrapes.

import { sql } from 'kysely';
import { describeError } from '../../base/describe-error.ts';
import type { Logger } from '../../base/log.ts';
import { memoize } from '../../base/memoize.ts';
import { within } from '../../base/within.ts';
import { onlyRow } from '../../db/only-row.ts';
import { readMemoized } from '../../reports/figure.ts';
import { type Concern, findConcerns } from '../../reports/find-concerns.ts';
import { type Growth, type GrowthDeps, readMemoizedGrowth } from '../../reports/read-growth.ts';
import { type MirrorHealth, readHealth } from '../../reports/read-health.ts';
import { readOldestPending } from '../../reports/read-payment-sums.ts';
import {
  type EndedRuns,
  type RunStatus,
  readLatestRuns,
  readRunsOfLastDay,
} from '../../reports/read-runs.ts';
import { type Drift, readDrift, readTracked, type TrackedStatus } from '../../reports/read-status.ts';

export interface Figures extends MirrorHealth {
  readonly latestRuns: readonly RunStatus[];
  readonly runsOfLastDay: readonly EndedRuns[];
  readonly drift: readonly Drift[];
  readonly oldestPendingSeconds: number | null;
  readonly tracked: TrackedStatus;
  readonly concerns: readonly Concern[];
  readonly growth: Growth;
  readonly readSeconds: number;
}

/** Prometheus waits ten seconds for a scrape unless it is configured otherwise. */
const READ_TIMEOUT_MS = 5000;
/** Figures are reused this many times as long as reading them took, so that scrapes cost at most 2 % of a core. */
const REUSED_FOR_READINGS = 50;

/**
 * The returned function returns null if the database does not answer. It queries the database each time, for memoized
 * figures too.
 */
export function makeReadFigures(
  { log, ...deps }: GrowthDeps & { log: Logger },
  { maxAgeSeconds }: { maxAgeSeconds: number },
): () => Promise<Figures | null> {
  // The next scrape waits for a read that takes too long: they do not pile up.
  const ask = memoize(
    () => sql`select`.execute(deps.db),
    () => 0,
  );
  const readMemoizedFigures = memoize(
    () => readFigures(deps, maxAgeSeconds),
    (tookMs) => tookMs * REUSED_FOR_READINGS,
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
