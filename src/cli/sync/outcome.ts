// How far a sync in the foreground has come, and what it has come to: the table or the document that it prints, what it
// says of concerns, and its exit code.

import { DELTA_BLIND_SPOTS } from '../../contract/delta-blind-spots.ts';
import { counted, formatCount, formatDuration, formatTimestamp } from '../../contract/format.ts';
import type { ListedResource } from '../../contract/resources.ts';
import { asDatabaseError } from '../../db/as-database-error.ts';
import { describeError } from '../../describe-error.ts';
import type { AppError } from '../../errors.ts';
import type { Reader } from '../../reports/figure.ts';
import { readFreshness } from '../../reports/read-freshness.ts';
import type { RunSummary, SyncProgress } from '../../sync/run-summary.ts';
import { runAsJson, type SyncDocument } from '../documents/sync.ts';
import type { ExitCode } from '../exit-code.ts';
import { print, printError, printJson } from '../output/print.ts';
import type { ProgressReading } from '../output/progress.ts';
import { describeConcerns, isDoubtful, renderRuns } from './render-runs.ts';

/** What the command has come to, also where an error ends it. */
export interface Reached {
  readonly runs: RunSummary[];
  readonly stopped: RunSummary[];
  /** Why the program did not say whether it lists these resources. */
  readonly unsaid: Map<ListedResource, AppError>;
  /** Of the run that is under way. */
  last: SyncProgress | null;
}

/** Returns how far a sync has come. */
export function readProgress({ resource, rows, pages, requests, total }: SyncProgress): ProgressReading {
  const done = rows.seen - rows.repeated;
  return {
    label: resource,
    unit: 'rows',
    done,
    total: total ?? done,
    details: [counted(pages, 'page')],
    fields: { resource, rows: done, total, pages, requests },
  };
}

/** Prints what was reached; also where an error ended the command, which then says the rest. */
export async function printRuns(
  reader: Reader,
  { runs, stopped }: Reached,
  { isJson }: { isJson: boolean },
): Promise<void> {
  const blindSpots = await readBlindSpots(reader, runs.filter(isDelta)).catch((error: unknown) => {
    // The runs are printed all the same, and so is the error that ended them.
    const reason = describeError(asDatabaseError(error));
    printError(`affiliate-mirror: when everything was last read is not known: ${reason}`);
    return null;
  });
  if (isJson) {
    const begun = [...runs, ...stopped].map(runAsJson);
    printJson({ runs: begun, blind_spots: blindSpots } satisfies SyncDocument);
    return;
  }
  if (runs.length > 0) print(renderRuns(runs));
  for (const read of blindSpots?.resources ?? []) printError(describeDelta(read));
}

/** Prints what there is to say of the runs, and returns the exit code. */
export function conclude({ runs, unsaid }: Reached): ExitCode {
  for (const concern of [...runs.flatMap(describeConcerns), ...[...unsaid].map(describeUnsaid)]) {
    printError(`affiliate-mirror: ${concern}`);
  }
  if (unsaid.size > 0 || runs.some(isDoubtful)) return 3;
  return runs.some(({ state }) => state === 'skipped') ? 4 : 0;
}

/** Returns what a command that was stopped says. */
export function describeReached(last: SyncProgress | null): string {
  if (last === null) return 'nothing was being read; the next sync goes on where this one was';
  const { rows, total, resource } = last;
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  return `${formatCount(rows.seen - rows.repeated)}${of} ${resource} were read; the next sync goes on there`;
}

function describeUnsaid([resource, { message }]: [ListedResource, AppError]): string {
  return `${resource} were not synced, since the program did not say whether it lists them: ${message}; OPTIONAL_LISTS decides it without asking`;
}

function isDelta({ plan }: RunSummary): boolean {
  return plan?.strategy === 'delta';
}

type BlindSpots = NonNullable<SyncDocument['blind_spots']>;

async function readBlindSpots(reader: Reader, deltas: readonly RunSummary[]): Promise<BlindSpots | null> {
  if (deltas.length === 0) return null;
  const freshness = await readFreshness(reader);
  return {
    does_not_see: [...DELTA_BLIND_SPOTS],
    resources: deltas.map(({ resource }) => {
      const status = freshness.rows.find((one) => one.resource === resource);
      return {
        resource,
        everything_as_of: status?.everything_as_of ?? null,
        everything_age_seconds: status?.everything_age_seconds ?? null,
      };
    }),
  };
}

function describeDelta({
  resource,
  everything_as_of: at,
  everything_age_seconds: age,
}: BlindSpots['resources'][number]): string {
  const when =
    at === null || age === null
      ? 'have never all been read'
      : `were all read last at ${formatTimestamp(at)}, ${formatDuration(age * 1000)} ago`;
  return `affiliate-mirror: ${resource} ${when}; what changed since without a trace, this delta did not see (affiliate-mirror sync --help)`;
}
