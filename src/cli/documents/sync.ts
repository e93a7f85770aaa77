// The document of `sync --json`: every run that was begun, whatever became of it.

import { z } from 'zod';
import { count, mode, resource, text, timestamp, yesNo } from '../../reports/fields.ts';

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
  })
  .meta({ title: 'affiliate-mirror sync --json' });
