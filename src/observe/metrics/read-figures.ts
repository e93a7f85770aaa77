// The figures of a program's database for the metrics: for a scrape, read once for all concurrent ones; or in the
// background, within the transaction in which its alerts are evaluated.

import { memoize } from '../../base/memoize.ts';
import { onlyRow } from '../../db/only-row.ts';
import { type Reader, readMemoized } from '../../reports/figure.ts';
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
  readonly concerns: readonly Concern[];
  readonly drift: readonly Drift[];
  readonly oldestPendingSeconds: number | null;
  /** Null if it was not measured. */
  readonly growth: Growth | null;
  /** Null for a program at rest: no alert rule reads them. */
  readonly more: MoreFigures | null;
  readonly readSeconds: number;
}

interface MoreFigures {
  readonly latestRuns: readonly RunStatus[];
  readonly runsOfLastDay: readonly EndedRuns[];
  readonly tracked: TrackedStatus;
}

/** Figures are reused this many times as long as reading them took, so that scrapes cost at most 2 % of a core. */
const REUSED_FOR_READINGS = 50;

/** Returns a function that returns all figures. Throws: the database's errors. */
export function makeReadFigures(deps: GrowthDeps, maxAgeSeconds: number): () => Promise<Figures> {
  return memoize(
    async () => {
      const beganMs = performance.now();
      const { health } = await readHealth(deps, readMemoized);
      const { growth } = await readMemoizedGrowth(deps);
      return await completeFigures(deps, health, { maxAgeSeconds, growth, isAtRest: false, beganMs });
    },
    (tookMs) => tookMs * REUSED_FOR_READINGS,
  );
}

export interface FiguresInput {
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly growth: Growth | null;
  readonly isAtRest: boolean;
  /** When the reading of the health began, by performance.now(). */
  readonly beganMs: number;
}

/** Returns the figures, of which the health is read already. Throws: the database's errors. */
export async function completeFigures(
  reader: Reader,
  health: MirrorHealth,
  { maxAgeSeconds, growth, isAtRest, beganMs }: FiguresInput,
): Promise<Figures> {
  const oldest = await readOldestPending(reader);
  return {
    ...health,
    concerns: findConcerns(health, { maxAgeSeconds, ...(growth !== null && { growth }) }),
    drift: (await readDrift(reader)).rows,
    oldestPendingSeconds: oldest.rows[0]?.age_seconds ?? null,
    growth,
    more: isAtRest ? null : await readMore(reader),
    readSeconds: (performance.now() - beganMs) / 1000,
  };
}

async function readMore(reader: Reader): Promise<MoreFigures> {
  return {
    latestRuns: (await readLatestRuns(reader)).rows,
    runsOfLastDay: (await readRunsOfLastDay(reader)).rows,
    tracked: onlyRow(await readTracked(reader), 'commission_coverage'),
  };
}
