// The freshness of each resource, the last time all of it was read, and its known gaps: the report freshness.

import { z } from 'zod';
import { formatDuration } from '../contract/format.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { count, resource, runState, seconds, text, timestamp, yesNo } from './fields.ts';
import { figureOf } from './figure.ts';

export const freshness = z.object({
  resource,
  changes_as_of: timestamp(
    'start of the last verified run: the mirror is at least as new as this, except for not_covered',
  ).nullable(),
  changes_age_seconds: seconds('the age of that').nullable(),
  everything_as_of: timestamp('start of the last verified run that read everything').nullable(),
  everything_age_seconds: seconds('the age of that').nullable(),
  deltas_since_everything: count('verified deltas since then'),
  not_covered: text('changes that the mirror may lack nevertheless').nullable(),
  last_run_id: count('the last run that was not skipped').nullable(),
  last_run_state: runState.nullable().describe('how it ended, or running'),
  last_run_verified: yesNo('that run is verified').nullable(),
  last_run_error_code: text('stable code of the error that it failed with').nullable(),
  last_run_error: text('why it did not succeed').nullable(),
  last_run_finished_at: timestamp('when it ended; null while it runs').nullable(),
  last_run_saved_at: timestamp('when it last saved its progress').nullable(),
  last_run_saved_age_seconds: seconds('how long ago that is').nullable(),
  failing_since: timestamp('when a run first failed since the last verified one').nullable(),
  unverified_since: timestamp('when a run first ended unverified since the last verified one').nullable(),
  last_run_unanswered_seconds: seconds(
    'for how long the running run has waited for a late answer of the API',
  ).nullable(),
  last_run_unanswered_attempt: count('how often it has sent that request').nullable(),
  rejected_records: count('the most that one run rejected, since the last that read everything'),
  rejected_since: timestamp('when the first of those runs began').nullable(),
  deletions_held_back: count('rows that look deleted and are not marked'),
  deletions_held_back_since: timestamp('since when some are, without being accepted').nullable(),
  deletions_accepted: count('those of them that a user accepted'),
});

/** For the view of the data. */
const coverage = freshness.pick({
  resource: true,
  everything_age_seconds: true,
  changes_age_seconds: true,
  last_run_id: true,
  not_covered: true,
});

export type ResourceStatus = z.infer<typeof freshness>;

/** Returns a row for each listed resource, also for optional lists that the API lacks. */
export const readFreshness = figureOf('freshness', freshness);

export const readResourceCoverage = figureOf('freshness', coverage);

/** Returns `no answer for 47 s, attempt 2`; null if no answer is late. */
export function describeUnanswered(seconds: number | null, attempt: number | null): string | null {
  if (seconds === null) return null;
  return `no answer for ${formatDuration(Math.round(seconds) * 1000)}, attempt ${attempt}`;
}

/** A run saves its progress with every batch. */
const SILENT_SECONDS = 15 * 60;

/**
 * Returns whether a running run has saved nothing for so long that its process is most likely dead. The time counts
 * from its last save, or from a later 429, before which it had nothing to save.
 */
export function isSilent(
  { last_run_state, last_run_saved_at: savedAt, last_run_saved_age_seconds: age }: ResourceStatus,
  lastThrottledAt: Timestamp | null,
): boolean {
  if (last_run_state !== 'running' || savedAt === null || age === null) return false;
  const throttledMs = lastThrottledAt === null ? 0 : Date.parse(lastThrottledAt) - Date.parse(savedAt);
  return age - Math.max(0, throttledMs) / 1000 > SILENT_SECONDS;
}
