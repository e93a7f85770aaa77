// The common end of every command that asks for updates: preview them, or queue them, wait if asked to, and report.

import { randomBytes } from 'node:crypto';
import { type PreviewedUpdate, previewUpdates } from '../../commissions/preview-updates.ts';
import { readPaymentLedger } from '../../commissions/read-payment-ledger.ts';
import { takeEarlierPayments } from '../../commissions/requests/earlier-payments.ts';
import { readLatest } from '../../commissions/requests/read-latest.ts';
import {
  findRequested,
  type RequestedUpdate,
  requestUpdates,
} from '../../commissions/requests/request-updates.ts';
import { takeWaitingTwins } from '../../commissions/requests/waiting-twins.ts';
import { BAD_STATES, type UpdateRequest } from '../../commissions/update-request.ts';
import { formatCount } from '../../contract/format.ts';
import { spellToTheSecond } from '../../contract/timestamp.ts';
import { describeError } from '../../describe-error.ts';
import type { DryRunDocument, QueuedDocument, WaitedDocument } from '../documents/commissions.ts';
import type { ExitCode } from '../exit-code.ts';
import { Stopped } from '../lifetime.ts';
import { nameUser } from '../name-user.ts';
import { type OutputFlags, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import { outcomeOfPreview, type RowOutcome } from './apply-outcome.ts';
import { reportAskedBefore } from './asked-before.ts';
import { describeFarDates } from './far-dates.ts';
import {
  describeCounts,
  hasBadEnd,
  type PreviewRow,
  paymentListing,
  previewListing,
  previewRow,
  repeatedRow,
} from './listings.ts';
import { readOutcomes, reportChangedSince } from './outcomes.ts';
import { makeBatchProgress } from './progress.ts';
import type { Openers, PaymentLedgerSession, ProgramSession } from './session.ts';
import { describeStateTotals, renderStateTotals, totalsByState } from './totals.ts';
import { waitFor } from './wait.ts';

export interface QueueFlags extends OutputFlags {
  readonly dryRun?: true;
  readonly wait?: true;
  /** Stdout carries another document already: only stderr tells what became of the requests. */
  readonly isStdoutTaken?: boolean;
  /** Called with what became of every row, before anything of it is printed. */
  readonly onOutcomes?: (outcomes: readonly RowOutcome[]) => Promise<void>;
}

/** A request with the line of the file that it is on; null where it comes from no file. */
export interface AskedRow {
  readonly line: number | null;
  readonly request: UpdateRequest;
  /** Whether whoever asks chose the idempotency key: then --again changes nothing about it. */
  readonly hasOwnKey: boolean;
  /** A request that waits and does the same: then there is nothing to queue. */
  readonly waiting?: RequestedUpdate | null;
}

/** Requests beyond this many are not listed one by one in the terminal, except those that somebody must look at. */
const MOST_LISTED = 50;

/** Returns the exit code, after previewing or queueing the requests and printing what became of them. */
export async function queueUpdates(
  open: Openers,
  given: readonly AskedRow[],
  flags: QueueFlags,
  source: string,
): Promise<ExitCode> {
  const farDates = describeFarDates(given, Date.now());
  if (farDates !== null) printError(farDates);
  if (flags.dryRun === true) {
    const session = await open.program();
    return await preview(session, await takeEarlierPayments(session.db, given), flags);
  }
  // Opened before anything is queued: whoever wants to wait must be able to.
  const program = flags.wait === true ? await open.program() : null;
  const session = program ?? (await open.paymentLedger());
  const batchId = batchName(source);
  const rows = await takeWaitingTwins(session.db, await takeEarlierPayments(session.db, given));
  const made = await requestUpdates(
    session,
    rows.filter(({ waiting }) => waiting == null).map(({ request }) => request),
    { batchId, requestedBy: nameUser(), signal: session.signal },
  ).catch((error: unknown) => {
    throw error instanceof Stopped ? error.saying('nothing was queued') : error;
  });
  const left = made.values();
  const requested = rows.flatMap(({ waiting }) => waiting ?? left.next().value ?? []);
  const isWorrying = reportAskedBefore(
    rows,
    requested.map((request) => (request.isNew ? null : request)),
  );
  const asked = { batchId, rows, requested };
  const exitCode =
    program === null ? await reportQueued(session, asked, flags) : await wait(program, asked, flags);
  return isWorrying ? 3 : exitCode;
}

/** Returns the exit code, after printing what would become of the requests. Only reads the program. */
async function preview(
  session: ProgramSession,
  rows: readonly AskedRow[],
  flags: QueueFlags,
): Promise<ExitCode> {
  const { reader, db, concurrency, signal, amountUnit } = session;
  const before = await findRequested(
    db,
    rows.map(({ request }) => request),
  );
  const earlierIds = [...before.values()].map(({ id }) => id);
  const latest = await readLatest(db, await readPaymentLedger(db, { kind: 'requests', ids: earlierIds }));
  const repeated = new Map(
    rows.flatMap((row) => {
      const earlier = before.get(row.request.idempotency_key ?? '');
      const now = latest.get(earlier?.id ?? 0);
      if (earlier === undefined || now === undefined) return [];
      return [[row, { ...earlier, row, request: earlier.id, now }] as const];
    }),
  );
  const anew = rows.filter((row) => !repeated.has(row));
  const progress = makeBatchProgress(anew.length, session);
  const previewed: PreviewedUpdate[] = [];
  try {
    const requests = anew.map(({ request }) => request);
    for await (const row of previewUpdates({ client: reader, db }, requests, {
      concurrency,
      signal,
      amountUnit,
    })) {
      previewed.push(row);
      progress.show({ pending: anew.length - previewed.length });
    }
  } finally {
    progress.finish();
  }
  // Taken one by one: to take the first of a long array moves all the others.
  const left = previewed.values();
  const listed = rows.flatMap((row): PreviewRow[] => {
    const earlier = repeated.get(row);
    if (earlier !== undefined) return [repeatedRow(row, earlier, earlier.now)];
    const next = left.next().value;
    return next === undefined ? [] : [previewRow(next, row.line)];
  });
  await flags.onOutcomes?.(listed.map(outcomeOfPreview));
  const totals = totalsByState(listed.map((row) => ({ ...row, state: row.would })));
  const documentOf = (documented: object[]): DryRunDocument => ({
    dry_run: true,
    totals: describeStateTotals(totals, 'would', amountUnit),
    rows: documented,
  });
  printListing(previewListing(listed, amountUnit, documentOf), flags);
  if (isForPeople(flags) && listed.length > 0) print(renderStateTotals(totals, 'would', amountUnit));
  const counts = Map.groupBy(listed, ({ would }) => would);
  const words = [...counts].map(([would, of]) => `${formatCount(of.length)} ${would}`).join(', ');
  printError(`dry run: nothing was queued or changed. ${words}`);
  // What applying it would say of them, and end with.
  const isWorrying = reportAskedBefore(
    rows,
    rows.map((row) => repeated.get(row) ?? null),
  );
  const unsaid = [...repeated.values()].filter(({ overtaken_by }) => overtaken_by === null);
  const isChangedSince = reportChangedSince(unsaid);
  const hasBadRow = listed.some(({ would }) => BAD_STATES.some((state) => state === would));
  return isWorrying || isChangedSince || hasBadRow ? 3 : 0;
}

/** What was asked for: `requested` has one for each of the rows. */
interface Asked {
  readonly batchId: string;
  readonly rows: readonly AskedRow[];
  readonly requested: readonly RequestedUpdate[];
}

async function reportQueued(
  session: PaymentLedgerSession,
  asked: Asked,
  flags: QueueFlags,
): Promise<ExitCode> {
  const { batchId, rows, requested } = asked;
  const queued = requested.filter(({ isNew }) => isNew).length;
  const isRead = !isForPeople(flags) || flags.onOutcomes !== undefined || queued < requested.length;
  const { lines, isChangedSince } = isRead
    ? await readOutcomes(session.db, rows, requested, flags.onOutcomes)
    : { lines: [], isChangedSince: false };
  if (!isForPeople(flags)) {
    const documentOf = (requests: object[]): QueuedDocument => ({ batch: batchId, queued, requests });
    printListing(paymentListing(lines, session.amountUnit, documentOf), flags);
  } else if (queued > 0) {
    const say = flags.isStdoutTaken === true ? printError : print;
    say(`${formatCount(queued)} queued as ${batchId}`);
  }
  if (queued > 0) {
    printError(
      `a running worker applies them; --wait does it here and now. To see how far they are: affiliate-mirror commissions status ${batchId}`,
    );
  } else {
    printError('nothing was queued');
  }
  return isChangedSince ? 3 : 0;
}

async function wait(session: ProgramSession, asked: Asked, flags: QueueFlags): Promise<ExitCode> {
  const { batchId, rows, requested } = asked;
  const ids = requested.map(({ id }) => id);
  const { amountUnit } = session;
  const isQueued = requested.some(({ isNew }) => isNew);
  const counts = await waitFor(session, ids, isQueued ? batchId : null).catch(async (error) => {
    if (flags.onOutcomes !== undefined) {
      // As without --wait: what has not ended is pending. What cut the waiting short is the error to report.
      await readOutcomes(session.db, rows, requested, flags.onOutcomes).catch((failure: unknown) =>
        printError(`the result was not written: ${describeError(failure)}`),
      );
    }
    throw error;
  });
  const { lines, isChangedSince } = await readOutcomes(session.db, rows, requested, flags.onOutcomes);
  const listed =
    !isForPeople(flags) || lines.length <= MOST_LISTED
      ? lines
      : lines.filter(({ state }) => BAD_STATES.includes(state));
  const totals = totalsByState(lines);
  if (flags.isStdoutTaken !== true) {
    const documentOf = (requests: object[]): WaitedDocument => ({
      batch: batchId,
      counts,
      totals: describeStateTotals(totals, 'state', amountUnit),
      requests,
    });
    printListing(paymentListing(listed, amountUnit, documentOf), flags);
    if (isForPeople(flags) && lines.length > 0) print(renderStateTotals(totals, 'state', amountUnit));
  }
  printError(isQueued ? `${batchId}: ${describeCounts(counts)}` : describeCounts(counts));
  return isChangedSince || hasBadEnd(counts) ? 3 : 0;
}

function isForPeople(flags: OutputFlags): boolean {
  return flags.json !== true && flags.csv !== true;
}

// Sorts by time, says where it came from, and can be typed.
function batchName(source: string): string {
  const moment = spellToTheSecond(Date.now()).replaceAll(/[-:Z]/g, '').replace('T', '-');
  const name = source.replace(/[^\w.-]+/g, '_').slice(-60);
  return `${moment}-${name}-${randomBytes(2).toString('hex')}`;
}
