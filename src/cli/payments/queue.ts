// The common end of every command that asks for payments: preview them, or queue them, wait if asked to, and report.

import { describeError } from '../../base/describe-error.ts';
import { formatCount, withLocalTimes } from '../../contract/format.ts';
import type { Database } from '../../db/database.ts';
import {
  type AskedBatch,
  type AskedLine,
  type AskedRow,
  askForRows,
  type RowOutcome,
  readOutcomes,
} from '../../payments/ask/ask-rows.ts';
import { describeAnswers, describeFarDates, groupOf } from '../../payments/ask/describe-rows.ts';
import { totalsByState } from '../../payments/totals-by-state.ts';
import { BAD_STATES, UNMET_STATES } from '../../payments/update-request.ts';
import { outcomeOf } from '../../payments/update-words.ts';
import { writerConcurrency } from '../../payments/write/writer-concurrency.ts';
import { commandFor } from '../../reports/concern-advice.ts';
import type { ConnectedProgram } from '../connect-program.ts';
import type { DryRunDocument, QueuedDocument, WaitedDocument } from '../documents/commissions.ts';
import type { ExitCode } from '../exit-code.ts';
import { Stopped } from '../lifetime.ts';
import { nameUser } from '../name-user.ts';
import { isForPeople, type OutputFlags, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import { type Program, startOf } from '../program.ts';
import {
  askedListing,
  describeSent,
  describeShown,
  describeStateTotals,
  previewListing,
  renderStateTotals,
  sentNow,
  shownState,
} from './listings.ts';
import type { RequestSession } from './session.ts';
import { makeReadProgress, waitFor } from './wait.ts';

export interface QueueFlags extends OutputFlags {
  readonly dryRun?: true;
  readonly wait?: true;
  /** Stdout carries another document: the outcomes go to stderr. */
  readonly isStdoutTaken?: boolean;
  /** Called with the outcome of every row, before anything is printed. */
  readonly onOutcomes?: (outcomes: readonly RowOutcome[]) => Promise<void>;
}

/** Returns the exit code, after the requests were previewed or queued, and their outcomes printed. */
export async function queueUpdates(
  { program, connected }: RequestSession,
  rows: readonly AskedRow[],
  flags: QueueFlags,
  source: string,
): Promise<ExitCode> {
  const farDates = describeFarDates(rows, Date.now());
  if (farDates !== null) printError(withLocalTimes(farDates));
  if (flags.dryRun === true && connected !== null) return await printPreview(connected, rows, flags);
  const { db, lifetime } = program;
  const { signal } = lifetime;
  const asked = await askForRows(db, rows, { source, requestedBy: nameUser(), signal }).catch(
    (error: unknown) => {
      throw error instanceof Stopped ? error.saying('nothing was queued') : error;
    },
  );
  const { behind, before, isWorrying } = describeAnswers(rows, asked);
  if (behind !== null) printError(withLocalTimes(behind));
  for (const says of before) printError(withLocalTimes(says));
  const exitCode =
    connected === null ? await reportQueued(program, asked, flags) : await wait(connected, asked, flags);
  return isWorrying ? 3 : exitCode;
}

/** Returns the exit code, after the outcomes of a dry run were printed. Only reads the API. */
async function printPreview(
  program: ConnectedProgram,
  rows: readonly AskedRow[],
  flags: QueueFlags,
): Promise<ExitCode> {
  const { clients, db, lifetime, money, rateLimit } = program;
  const { previewRows } = await import('../../payments/preview-updates.ts');
  const progress = makeReadProgress(program);
  const { previewed, ...answers } = await previewRows({ client: clients.reads, db }, rows, {
    concurrency: writerConcurrency(rateLimit),
    signal: lifetime.signal,
    money,
    onProgress: progress.show,
  }).finally(() => progress.finish());
  await flags.onOutcomes?.(previewed.map((row) => ({ ...row, state: row.would, outcome: outcomeOf(row) })));
  const totals = totalsByState(previewed.map((row) => ({ ...row, state: row.would })));
  const documentOf = (documented: object[]): DryRunDocument => ({
    dry_run: true,
    totals: describeStateTotals(totals, 'would', money),
    rows: documented,
  });
  printListing(previewListing(previewed, money, documentOf), flags);
  if (isForPeople(flags) && previewed.length > 0) print(renderStateTotals(totals, 'would', money));
  const counts = Map.groupBy(previewed, ({ would }) => would);
  const words = [...counts].map(([would, of]) => `${formatCount(of.length)} ${would}`).join(', ');
  printError(`${startOf(program)}dry run: nothing was queued or changed. ${words}`);
  // The messages and the exit code of applying it.
  const { behind, before, isWorrying } = describeAnswers(rows, answers);
  for (const says of before) printError(withLocalTimes(says));
  if (behind !== null) printError(withLocalTimes(behind));
  const hasBadRow = previewed.some(({ would }) => BAD_STATES.some((state) => state === would));
  return isWorrying || behind !== null || hasBadRow ? 3 : 0;
}

async function reportQueued(program: Program, asked: AskedBatch, flags: QueueFlags): Promise<ExitCode> {
  const { batchId, answers } = asked;
  const queued = answers.filter(({ isNew }) => isNew).length;
  const isRead = !isForPeople(flags) || flags.onOutcomes !== undefined;
  const lines = isRead ? await readReported(program.db, asked, flags) : [];
  if (!isForPeople(flags)) {
    const documentOf = (requests: object[]): QueuedDocument => ({ batch: batchId, queued, requests });
    printListing(askedListing(lines, program.money, documentOf), flags);
  } else if (queued > 0) {
    const say = flags.isStdoutTaken === true ? printError : print;
    say(`${startOf(program)}${formatCount(queued)} queued as ${batchId}`);
  }
  if (queued > 0) {
    printError(
      `a running worker applies them; --wait does it here and now. To see how far they are: ${commandFor(program.name, `affiliate-mirror ${groupOf(asked.rows)} status ${batchId}`)}`,
    );
  } else {
    const before = answers.map((answer) => ({ ...answer, ended_before: answer.state !== 'pending' }));
    printError(`${startOf(program)}nothing was queued; ${describeShown(before)}`);
  }
  return 0;
}

async function wait(program: ConnectedProgram, asked: AskedBatch, flags: QueueFlags): Promise<ExitCode> {
  const { batchId, answers } = asked;
  const ids = answers.map(({ id }) => id);
  const { db, money } = program;
  const isQueued = answers.some(({ isNew }) => isNew);
  const counts = await waitFor(
    program,
    ids,
    isQueued ? { name: batchId, group: groupOf(asked.rows) } : null,
  ).catch(async (error) => {
    if (flags.onOutcomes !== undefined) {
      // As without --wait: requests that have not ended are pending. The error of the waiting is the one to report.
      await readReported(db, asked, flags).catch((failure: unknown) =>
        printError(`the result was not written: ${describeError(failure)}`),
      );
    }
    throw error;
  });
  const lines = await readReported(db, asked, flags);
  if (flags.isStdoutTaken !== true) {
    const documentOf = (requests: object[]): WaitedDocument => ({
      batch: batchId,
      counts,
      sent_now: sentNow(lines),
      totals: describeStateTotals(totalsByState(lines), 'state', money),
      requests,
    });
    printListing(askedListing(lines, money, documentOf), flags);
    const shown = totalsByState(lines.map((line) => ({ ...line, state: shownState(line) })));
    if (isForPeople(flags) && lines.length > 0) print(renderStateTotals(shown, 'state', money));
  }
  printError(`${startOf(program)}${isQueued ? `${batchId}: ` : ''}${describeSent(lines)}`);
  // The user of --wait wants it done, also if another user drops it meanwhile.
  return UNMET_STATES.some((state) => counts[state] !== undefined) ? 3 : 0;
}

/** Returns the lines of the requests, after `onOutcomes`. */
async function readReported(
  db: Database,
  asked: AskedBatch,
  { onOutcomes }: QueueFlags,
): Promise<readonly AskedLine[]> {
  const { lines, outcomes } = await readOutcomes(db, asked);
  await onOutcomes?.(outcomes);
  return lines;
}
