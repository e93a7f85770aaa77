// The document of `status --json`: what is wrong, and every figure that it follows from.

import { z } from 'zod';
import { OPTIONAL_LISTS } from '../../config/optional-lists.ts';
import { CONCERN_CODES } from '../../reports/find-concerns.ts';
import { batch, updateState } from './batch.ts';
import { count, mode, resource, seconds, text, timestamp, yesNo } from './fields.ts';

const runState = z.enum(['running', 'succeeded', 'partial', 'failed', 'interrupted', 'skipped']);

/** Typed as the run log has it: its fields are those of the document of `sync`. */
const plan: z.ZodType<object> = z.looseObject({}).describe('what a delta set out to do; see sync.json');

const concern = z.object({
  code: z.enum(CONCERN_CODES).describe('stable name of what is wrong'),
  resource: resource.nullable(),
  what: text('what is wrong'),
  since: timestamp('since when').nullable(),
  fix: text('the command to run, which fixes it or says more'),
});

const freshness = z.object({
  resource,
  changes_as_of: timestamp(
    'start of the last verified run: the mirror is at least as new as this',
  ).nullable(),
  changes_age_seconds: seconds('the age of that').nullable(),
  everything_as_of: timestamp('start of the last verified run that read everything').nullable(),
  everything_age_seconds: seconds('the age of that').nullable(),
  deltas_since_everything: count('verified deltas since then'),
  last_run_state: runState.nullable().describe('of the last run that was not left to another process'),
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

const run = z.object({
  id: count('number of the run in sync_runs'),
  resource,
  mode,
  state: runState,
  started_at: timestamp('when it began'),
  finished_at: timestamp('when it ended; null while it runs').nullable(),
  requests: count('requests sent'),
  rows_seen: count('records read, those that were read again included'),
  rows_inserted: count('records that were new'),
  rows_updated: count('records that had changed'),
  rows_unchanged: count('records that were here already'),
  rows_rejected: count('records that could not be stored'),
  rows_repeated: count('records read again within the run'),
  rows_deleted: count('rows that it marked deleted'),
  deletes_held_back: count('rows that look deleted and were not marked'),
  verified: yesNo('it is known that nothing was missed'),
  plan: plan.nullable(),
  error_code: text('stable code of the error that it failed with').nullable(),
  error: text('why it did not succeed').nullable(),
});

const drift = z.object({
  run_id: count('the last run that noticed it'),
  resource,
  field: text('the field, with the names of the objects around it'),
  kind: z.enum(['appeared', 'vanished', 'retyped']),
  found: text('an example of the type that was found').nullable(),
  occurrences: count(
    'how often it was noticed: once for each record, and again where the run read the record again',
  ),
});

const budget = z.object({
  used_requests: count('requests that count against the limit now'),
  foreign_requests: count('requests that somebody else on the account must have made'),
  limit_requests: count('the limit that the program names, where it is lower than ours').nullable(),
  paused_until: timestamp('nothing is sent before this').nullable(),
  last_throttled_at: timestamp('when the program last answered 429').nullable(),
});

const payments = z.object({
  states: z.array(z.object({ state: updateState, requests: count('how many') })).readonly(),
  failed: count('requests that failed, without a newer one for the same value of their commission'),
  failed_since: timestamp('when the first of them failed').nullable(),
  neglected: count('requests that are due for minutes, while no process works on any'),
  neglected_since: timestamp('since when the first of them is due').nullable(),
  last_batches: z.array(batch).readonly().describe('newest first'),
});

const bytes = (meaning: string) => z.number().describe(`${meaning}, in bytes`);

const growth = z.object({
  tables: z
    .array(
      z.object({
        table_name: text('a table'),
        rows: count('its rows, an estimate where it is large'),
        bytes: bytes('its size on disk with its indexes'),
        index_bytes: bytes('of that, the size of its indexes'),
        rows_per_day: z.number().nullable().describe('rows added per day since measured_since'),
        bytes_per_year: bytes('what it gains in a year at this rate, without what is pruned').nullable(),
        keep_days: count(
          'for how many days its rows are kept; null: for ever, unless the table bounds itself (docs/retention.md)',
        ).nullable(),
        pruned_before: timestamp('rows from before this may have been pruned').nullable(),
      }),
    )
    .readonly()
    .describe('the largest first'),
  bytes: bytes('the size of the whole database'),
  bytes_per_year: bytes('what it gains in a year at this rate').nullable(),
  measured_since: timestamp(
    'from when on rows were counted; null until a day after the first load',
  ).nullable(),
  disk: z.object({
    source: z
      .enum(['limit', 'file_system'])
      .nullable()
      .describe('DATABASE_SIZE_LIMIT, or the disk of the embedded Postgres; null: not known'),
    free_bytes: bytes('what is left').nullable(),
    full_at: timestamp('when nothing is left at this rate; null where that takes years').nullable(),
    full_in_days: z.number().nullable().describe('in how many days'),
  }),
});

export const statusDocument = z
  .object({
    is_well: yesNo('there is no concern'),
    concerns: z.array(concern).readonly().describe('what is wrong, the most serious first'),
    resources: z.array(freshness).readonly().describe('how fresh each resource is'),
    tables: z
      .array(
        z.object({
          table_name: text('a mirrored table'),
          rows: count('rows that are not marked deleted'),
          deleted: count('rows that are'),
        }),
      )
      .readonly(),
    tracked_commissions: z
      .object({
        tracked: count('known commissions that are asked for again and again'),
        due: count('those whose turn has come'),
        unanswered: count('those whose last request was not answered'),
        gone: count('those that the program no longer has'),
        next_poll_at: timestamp('when the next turn comes').nullable(),
      })
      .describe('commissions that are asked for one by one'),
    optional_lists: z
      .array(
        z.object({
          resource: z.enum(OPTIONAL_LISTS),
          setting: text('OPTIONAL_LISTS, as last configured of it: auto, on or off'),
          is_served: yesNo('the program has the list; null: it never said').nullable(),
          is_used: yesNo('the resource is mirrored by its list'),
          found_at: timestamp('when the program said so').nullable(),
          asked_at: timestamp('when it was last asked').nullable(),
          problem: text('why the last question decided nothing').nullable(),
        }),
      )
      .readonly()
      .describe('lists that the contract does not show, and whether the program has them'),
    commission_list: z
      .object({
        setting: text('OPTIONAL_LISTS, as last configured of commissions'),
        is_served: yesNo('the program lists its commissions; null: it never said').nullable(),
        is_used: yesNo('commissions are mirrored by their list'),
        found_at: timestamp('when the program said so').nullable(),
        asked_at: timestamp('when it was last asked').nullable(),
        problem: text('why the last question decided nothing').nullable(),
        differences: count(
          'sums by affiliate and currency that are not those of the program; null where not every commission is mirrored',
        ).nullable(),
      })
      .describe('whether the program lists its commissions'),
    last_runs: z.array(run).readonly().describe('newest first'),
    schema_drift: z.array(drift).readonly().describe('where records differ from the contract'),
    budget: budget.describe("the account's request budget, now"),
    payments,
    growth: growth.describe('how large the database is, and how fast it grows'),
    books: z
      .object({
        compared_at: timestamp('when books were last compared with the program').nullable(),
        differing: count('commissions that differed then'),
        differ_since: timestamp('when the first comparison ended that found some').nullable(),
        differ_in: z
          .enum(['file', 'payment_ledger'])
          .describe('which books differ; a file, where both do')
          .nullable(),
      })
      .describe('what commissions reconcile last found'),
    worker: z.object({
      secret_refused_since: timestamp(
        'since when all workers pause, as the program refuses the secret',
      ).nullable(),
      program_changed_since: timestamp(
        'since when all workers pause, as the API has none of the records that the mirror has',
      ).nullable(),
    }),
  })
  .meta({ title: 'affiliate-mirror status --json' });

export type StatusDocument = z.infer<typeof statusDocument>;
