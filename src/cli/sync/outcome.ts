// The progress of a sync in the foreground, and its outcome: the table or document, the concerns, and the exit code.

import { z } from 'zod';
import type { AppError } from '../../base/errors.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { ListedResource } from '../../contract/resources.ts';
import { count, mode, resource, text, timestamp, yesNo } from '../../reports/fields.ts';
import type { RunSummary, SyncProgress } from '../../sync/run-summary.ts';
import type { ExitCode } from '../exit-code.ts';
import { failure } from '../many-programs.ts';
import { print, printError, printJson } from '../output/print.ts';
import type { ProgressReading } from '../output/progress.ts';
import { describeDoubts, isDoubtful, renderRuns } from './render-runs.ts';

const planned = {
  strategy: z.enum(['delta', 'full']).describe('full: everything was read, since that cost no more'),
  expected_requests: count('requests that the plan expected to need'),
  full_walk_requests: count('requests that reading everything would have needed'),
};

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
      open_records: count('records that the mirror had in a state that still changes'),
      moved_records: count(
        'those of them that are so no longer; null until the list of them was read',
      ).nullable(),
    })
    .describe('of a delta of commissions or payouts'),
]);

const run = z.object({
  id: count('number of the run in sync_runs'),
  resource,
  mode,
  state: z
    .enum(['succeeded', 'partial', 'failed', 'interrupted', 'skipped'])
    .describe(
      'partial: read to the end, but unverified, or deletions were held back; failed, interrupted: stopped short, and the figures say how far it came; skipped: another process synced the resource',
    ),
  error_code: text('stable code of the error that it failed with').nullable(),
  reason: text('why it did not succeed').nullable(),
  started_at: timestamp('when the run began; of a resumed one, its first attempt'),
  finished_at: timestamp('when it ended, or stopped'),
  is_resumed: yesNo('it was stopped before, and resumed'),
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
  total_upstream: count('records that the API says it has').nullable(),
  distinct_seen: count('different records that it saw'),
  verified: yesNo('it is known that nothing was missed'),
  plan: plan.nullable(),
  duration_ms: count("milliseconds of this process's part in it"),
});

/** The document of `sync --json`: every run that was begun. */
export const syncDocument = z
  .object({
    runs: z.array(run).describe('in the order in which they were begun'),
  })
  .meta({ title: 'affiliate-mirror sync --json' });

/** The document with PROGRAMS_FILE. */
export const syncProgramsDocument = z
  .object({
    programs: z
      .array(
        z.object({
          program: text('its name in PROGRAMS_FILE'),
          error: failure.describe('why it failed').nullable(),
          ...syncDocument.shape,
        }),
      )
      .describe('in the order of the file; after a stop, those that were begun'),
  })
  .meta({ title: `${syncDocument.meta()?.title}, with PROGRAMS_FILE` });

/** The state of the command, or of its work on one program, also if an error ends it. */
export interface Reached {
  readonly runs: RunSummary[];
  readonly stopped: RunSummary[];
  /** Why the API did not say whether it lists these resources. */
  readonly unsaid: Map<ListedResource, AppError>;
  /** Null between two runs. */
  last: SyncProgress | null;
}

export function readProgress({
  resource: label,
  rows,
  pages,
  requests,
  total,
}: SyncProgress): ProgressReading {
  const done = rows.seen - rows.repeated;
  return {
    label,
    unit: 'rows',
    done,
    total: total ?? done,
    details: [counted(pages, 'page')],
    fields: { resource: label, rows: done, total, pages, requests },
  };
}

export function makeReached(): Reached {
  return { runs: [], stopped: [], unsaid: new Map(), last: null };
}

/** Prints the runs, also if an error ended the command. */
export function printRuns(reached: Reached, { isJson }: { isJson: boolean }): void {
  if (isJson) printJson(syncDocument.parse(documentOfRuns(reached)));
  else if (reached.runs.length > 0) print(renderRuns(reached.runs));
  noteBlindSpots(reached);
}

export function documentOfRuns({ runs, stopped }: Reached): z.input<typeof syncDocument> {
  return { runs: [...runs, ...stopped] };
}

/** `start` begins the line, with a listed program's name. */
export function noteBlindSpots({ runs }: Reached, start = ''): void {
  const deltas = runs.filter(({ plan }) => plan?.strategy === 'delta').map(({ resource }) => resource);
  if (deltas.length === 0) return;
  printError(
    `affiliate-mirror: ${start}this delta of ${deltas.join(' and ')} did not see changes that leave no trace (affiliate-mirror sync --help); affiliate-mirror status says when everything was last read`,
  );
}

/** Prints the concerns of the runs, and returns the exit code. */
export function conclude({ runs, unsaid }: Reached, start = ''): ExitCode {
  for (const concern of [...runs.flatMap(describeDoubts), ...[...unsaid].map(describeUnsaid)]) {
    printError(`affiliate-mirror: ${start}${concern}`);
  }
  if (unsaid.size > 0 || runs.some(isDoubtful)) return 3;
  return runs.some(({ state }) => state === 'skipped') ? 4 : 0;
}

/** Returns how far a stopped command came. */
export function describeReached(last: SyncProgress | null): string {
  if (last === null) return 'nothing was being read; the next sync goes on where this one was';
  const { rows, total, resource } = last;
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  return `${formatCount(rows.seen - rows.repeated)}${of} ${resource} were read; the next sync goes on there`;
}

function describeUnsaid([resource, { message }]: [ListedResource, AppError]): string {
  return `${resource} were not synced, since the API did not say whether it lists them: ${message}; OPTIONAL_LISTS decides it without asking`;
}
