// How fresh each resource is, when everything of it was last read, and what speaks against trusting it: the report
// freshness.

import { z } from 'zod';
import { count, resource, runState, seconds, text, timestamp, yesNo } from './fields.ts';
import { figureOf } from './figure.ts';

export const freshness = z.object({
  resource,
  changes_as_of: timestamp(
    'start of the last verified run: the mirror is at least as new as this, but for what not_covered says',
  ).nullable(),
  changes_age_seconds: seconds('the age of that').nullable(),
  everything_as_of: timestamp('start of the last verified run that read everything').nullable(),
  everything_age_seconds: seconds('the age of that').nullable(),
  deltas_since_everything: count('verified deltas since then'),
  not_covered: text('what the mirror may lack nevertheless').nullable(),
  last_run_id: count('the last run that was not left to another process').nullable(),
  last_run_state: runState.nullable().describe('how it ended, or running'),
  last_run_verified: yesNo('that run is verified').nullable(),
  last_run_error_code: text('stable code of the error that it failed with').nullable(),
  last_run_error: text('why it did not succeed').nullable(),
  last_run_finished_at: timestamp('when it ended; null while it runs').nullable(),
  last_run_saved_at: timestamp('when it last saved its progress').nullable(),
  last_run_saved_age_seconds: seconds('how long ago that is').nullable(),
  rejected_records: count('the most that one run rejected, since the last that read everything'),
  rejected_since: timestamp('when the first of those runs began').nullable(),
  deletions_held_back: count('rows that look deleted and are not marked'),
  deletions_held_back_since: timestamp('since when some are, and nobody accepted them').nullable(),
  deletions_accepted: count('those of them that somebody accepted'),
});

/** What the page of the data shows of it. */
const coverage = freshness.pick({
  resource: true,
  everything_age_seconds: true,
  changes_age_seconds: true,
  last_run_id: true,
  not_covered: true,
});

export type ResourceStatus = z.infer<typeof freshness>;

/** A row for each listed resource; for optional lists also where the program has none. */
export const readFreshness = figureOf('freshness', freshness);

/** As of when each was read, and what may be missing nevertheless. */
export const readResourceCoverage = figureOf('freshness', coverage);
