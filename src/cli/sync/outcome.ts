// How far a sync in the foreground has come, and what it has come to: the table or the document that it prints, what it
// says of concerns, and its exit code.

import { counted, formatCount } from '../../contract/format.ts';
import type { ListedResource } from '../../contract/resources.ts';
import type { AppError } from '../../errors.ts';
import type { RunSummary, SyncProgress } from '../../sync/run-summary.ts';
import { syncDocument } from '../documents/sync.ts';
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
export function printRuns({ runs, stopped }: Reached, { isJson }: { isJson: boolean }): void {
  if (isJson) printJson(syncDocument.parse({ runs: [...runs, ...stopped] }));
  else if (runs.length > 0) print(renderRuns(runs));
  const deltas = runs.filter(({ plan }) => plan?.strategy === 'delta').map(({ resource }) => resource);
  if (deltas.length === 0) return;
  printError(
    `affiliate-mirror: what changed without a trace, this delta of ${deltas.join(' and ')} did not see (affiliate-mirror sync --help); when everything was last read says affiliate-mirror status drift`,
  );
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
