// The common end of every command that asks for updates: preview them, or queue them, wait if asked to, and report.

import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { awaitUpdates, type StateCounts } from '../commissions/await-updates.ts';
import { type PreviewedUpdate, previewUpdates } from '../commissions/preview-updates.ts';
import { readLedger } from '../commissions/read-ledger.ts';
import { findRequested, type RequestedUpdate, requestUpdates } from '../commissions/request-updates.ts';
import { BAD_STATES, type UpdateRequest } from '../commissions/update-request.ts';
import {
  askAnew,
  describeCounts,
  hasBadEnd,
  ledgerListing,
  type PreviewRow,
  previewListing,
  previewRow,
  repeatedRow,
} from './commissions-listings.ts';
import { makeBatchProgress } from './commissions-progress.ts';
import type { Openers, ProgramSession } from './commissions-session.ts';
import type { ExitCode } from './exit-code.ts';
import { formatCount } from './format.ts';
import { type OutputFlags, printListing } from './output-format.ts';
import { print, printError } from './print.ts';

export interface QueueFlags extends OutputFlags {
  readonly dryRun?: true;
  readonly wait?: true;
  /** Stdout carries another document already: only stderr tells what became of the requests. */
  readonly isStdoutTaken?: boolean;
}

/** A request with the line of the file that it is on; null where it comes from no file. */
export interface AskedRow {
  readonly line: number | null;
  readonly request: UpdateRequest;
  /** Whether whoever asks chose the idempotency key: then --again changes nothing about it. */
  readonly hasOwnKey: boolean;
}

/** Requests beyond this many are not listed one by one in the terminal, except those that somebody must look at. */
const MOST_LISTED = 50;

/** Returns the exit code, after previewing or queueing the requests and printing what became of them. */
export async function queueUpdates(
  open: Openers,
  rows: readonly AskedRow[],
  flags: QueueFlags,
  source: string,
): Promise<ExitCode> {
  if (flags.dryRun === true) return await preview(await open.program(), rows, flags);
  // Opened before anything is queued: whoever wants to wait must be able to.
  const program = flags.wait === true ? await open.program() : null;
  const session = program ?? (await open.ledger());
  const batchId = batchName(source);
  const requested = await requestUpdates(
    session,
    rows.map(({ request }) => request),
    { batchId, requestedBy: userInfo().username },
  );
  const isWorrying = reportAskedBefore(rows, requested);
  const exitCode =
    program === null
      ? await reportQueued(session, batchId, requested, flags)
      : await wait(program, batchId, requested, flags);
  return isWorrying ? 3 : exitCode;
}

/** Returns the exit code, after printing what would become of the requests. Only reads the program. */
async function preview(
  session: ProgramSession,
  rows: readonly AskedRow[],
  flags: OutputFlags,
): Promise<ExitCode> {
  const { reader, db, concurrency, signal } = session;
  const keys = rows.flatMap(({ request }) => request.idempotency_key ?? []);
  const before = await findRequested(db, keys);
  const isNew = ({ request }: AskedRow) => !before.has(request.idempotency_key ?? '');
  const anew = rows.filter(isNew);
  const progress = makeBatchProgress(anew.length, session);
  const previewed: PreviewedUpdate[] = [];
  try {
    const requests = anew.map(({ request }) => request);
    for await (const row of previewUpdates({ client: reader }, requests, { concurrency, signal })) {
      previewed.push(row);
      progress.show({ pending: anew.length - previewed.length });
    }
  } finally {
    progress.finish();
  }
  const listed = rows.flatMap((row): PreviewRow[] => {
    const earlier = before.get(row.request.idempotency_key ?? '');
    if (earlier !== undefined) return [repeatedRow(row, earlier)];
    const next = previewed.shift();
    return next === undefined ? [] : [previewRow(next, row.line)];
  });
  printListing(previewListing(listed), flags);
  const counts = Map.groupBy(listed, ({ would }) => would);
  const words = [...counts].map(([would, of]) => `${formatCount(of.length)} ${would}`).join(', ');
  printError(`dry run: nothing was queued or changed. ${words}`);
  return listed.some(({ would }) => BAD_STATES.some((state) => state === would)) ? 3 : 0;
}

async function reportQueued(
  { db }: Pick<ProgramSession, 'db'>,
  batchId: string,
  requested: readonly RequestedUpdate[],
  flags: QueueFlags,
): Promise<ExitCode> {
  const queued = requested.filter(({ isNew }) => isNew).length;
  if (flags.json === true || flags.csv === true) {
    const lines = await readLedger(db, { kind: 'requests', ids: requested.map(({ id }) => id) });
    printListing(ledgerListing(lines, { batch: batchId, queued }), flags);
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
  return 0;
}

async function wait(
  session: ProgramSession,
  batchId: string,
  requested: readonly RequestedUpdate[],
  flags: QueueFlags,
): Promise<ExitCode> {
  const ids = requested.map(({ id }) => id);
  const counts = await waitFor(session, ids);
  const lines = await readLedger(session.db, { kind: 'requests', ids });
  const isForPrograms = flags.json === true || flags.csv === true;
  const listed =
    isForPrograms || lines.length <= MOST_LISTED
      ? lines
      : lines.filter(({ state }) => BAD_STATES.includes(state));
  if (flags.isStdoutTaken !== true) printListing(ledgerListing(listed, { batch: batchId, counts }), flags);
  const isQueued = requested.some(({ isNew }) => isNew);
  printError(isQueued ? `${batchId}: ${describeCounts(counts)}` : describeCounts(counts));
  return hasBadEnd(counts) ? 3 : 0;
}

/** Returns how the requests ended, after showing how far they come. */
export async function waitFor(session: ProgramSession, ids: readonly number[]): Promise<StateCounts> {
  const progress = makeBatchProgress(ids.length, session);
  try {
    return await awaitUpdates(session, ids, {
      concurrency: session.concurrency,
      signal: session.signal,
      onProgress: progress.show,
    });
  } finally {
    progress.finish();
  }
}

/** Returns whether a row was asked for before, and the program does not have what it asks for. */
function reportAskedBefore(rows: readonly AskedRow[], requested: readonly RequestedUpdate[]): boolean {
  const before = requested.filter(({ isNew }) => !isNew);
  if (before.length === 0) return false;
  printError(
    `${formatCount(before.length)} of ${formatCount(rows.length)} were asked for before: not queued again`,
  );
  let isWorrying = false;
  requested.forEach((request, index) => {
    if (request.isNew) return;
    const row = rows[index];
    const where = row === undefined || row.line === null ? '' : `line ${row.line}: `;
    const hint = askAnew(row?.hasOwnKey === true);
    if (request.overtaken_by !== null) {
      isWorrying = true;
      printError(
        `${where}request ${request.id} asked for this and ended as ${request.state}, but request ${request.overtaken_by} came later: ${hint}`,
      );
    } else if (BAD_STATES.includes(request.state)) {
      isWorrying = true;
      printError(
        `${where}request ${request.id} asked for this and ended as ${request.state} (${request.outcome}): ${
          request.state === 'failed' ? `affiliate-mirror commissions retry ${request.id}` : hint
        }`,
      );
    }
  });
  return isWorrying;
}

// Sorts by time, says where it came from, and can be typed.
function batchName(source: string): string {
  const moment = new Date()
    .toISOString()
    .slice(0, 19)
    .replaceAll(':', '')
    .replaceAll('-', '')
    .replace('T', '-');
  const name = source.replace(/[^\w.-]+/g, '_').slice(-60);
  return `${moment}-${name}-${randomBytes(2).toString('hex')}`;
}
