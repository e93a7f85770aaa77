// The document of `sync --json`: every run that was begun, whatever became of it.

import { z } from 'zod';
import { count, mode, resource, seconds, text, timestamp, yesNo } from '../../reports/fields.ts';
import type { RunSummary } from '../../sync/run-summary.ts';

const planned = {
  strategy: z.enum(['delta', 'full']).describe('full: everything was read, since that cost no more'),
  expected_requests: count('requests that the plan expected to need'),
  full_walk_requests: count('requests that reading everything would have needed'),
};

/** What a delta set out to do. */
const plan = z.union([
  z
    .object({
      ...planned,
      moved_affiliates: count('affiliates whose counters moved, so that their referrals were read again'),
    })
    .describe('of a delta of referrals'),
  z
    .object({
      ...planned,
      open_commissions: count('commissions that the mirror had as pending or due'),
      moved_commissions: count(
        'those of them that are so no longer; null until the list of them was read',
      ).nullable(),
    })
    .describe('of a delta of commissions'),
]);

const run = z.object({
  id: count('number of the run in sync_runs'),
  resource,
  mode,
  state: z
    .enum(['succeeded', 'partial', 'failed', 'interrupted', 'skipped'])
    .describe(
      'partial: read to the end, but unverified, or deletions were held back; failed, interrupted: stopped short, and the figures say how far it came; skipped: another process was at it',
    ),
  error_code: text('stable code of the error that it failed with').nullable(),
  reason: text('why it did not succeed').nullable(),
  started_at: timestamp('when the run began; of one that was taken up again, its first attempt'),
  finished_at: timestamp('when it ended, or stopped'),
  is_resumed: yesNo('it was stopped before, and taken up again'),
  requests: count('requests sent'),
  pages: count('pages loaded'),
  rows_seen: count('records read: the sum of the next five'),
  rows_inserted: count('records that were new'),
  rows_updated: count('records that had changed'),
  rows_unchanged: count('records that were here already'),
  rows_rejected: count('records that could not be stored: see rejected_records'),
  rows_repeated: count('records read again within the run'),
  rows_deleted: count('rows that it marked deleted'),
  deletes_held_back: count('rows that look deleted and were not marked'),
  total_upstream: count('records that the program says it has').nullable(),
  distinct_seen: count('different records that it saw'),
  verified: yesNo('it is known that nothing was missed'),
  plan: plan.nullable(),
  duration_ms: count("milliseconds of this process's part in it"),
});

export const syncDocument = z
  .object({
    runs: z.array(run).describe('in the order in which they were begun'),
    blind_spots: z
      .object({
        does_not_see: z.array(z.string()),
        resources: z.array(
          z.object({
            resource,
            everything_as_of: timestamp('when all of them were last read').nullable(),
            everything_age_seconds: seconds('the age of that').nullable(),
          }),
        ),
      })
      .nullable()
      .describe('what the deltas did not see; null where everything was read, or it cannot be said'),
  })
  .meta({ title: 'affiliate-mirror sync --json' });

export type SyncDocument = z.infer<typeof syncDocument>;

/** Returns a run under the names of the run log's columns (sync_runs). */
export function runAsJson(summary: RunSummary): z.infer<typeof run> {
  return {
    id: summary.runId,
    resource: summary.resource,
    mode: summary.mode,
    state: summary.state,
    error_code: summary.errorCode,
    reason: summary.reason,
    started_at: summary.startedAt,
    finished_at: summary.finishedAt,
    is_resumed: summary.isResumed,
    requests: summary.requests,
    pages: summary.pages,
    rows_seen: summary.rows.seen,
    rows_inserted: summary.rows.inserted,
    rows_updated: summary.rows.updated,
    rows_unchanged: summary.rows.unchanged,
    rows_rejected: summary.rows.rejected,
    rows_repeated: summary.rows.repeated,
    rows_deleted: summary.deleted,
    deletes_held_back: summary.deletesHeldBack,
    total_upstream: summary.total,
    distinct_seen: summary.distinct,
    verified: summary.verified,
    plan: summary.plan,
    duration_ms: summary.durationMs,
  };
}
