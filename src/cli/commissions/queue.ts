// The common end of every command that asks for updates: preview them, or queue them, wait if asked to, and report.

import { randomBytes } from 'node:crypto';
import { readLatest } from '../../commissions/requests/read-latest.ts';
import { type RequestedUpdate, requestUpdates } from '../../commissions/requests/request-updates.ts';
import { isSelected } from '../../commissions/select-requests.ts';
import { GOOD_STATES, UNMET_STATES } from '../../commissions/update-request.ts';
import { formatCount } from '../../contract/format.ts';
import { spellToTheSecond } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { describeError } from '../../describe-error.ts';
import { type PaymentLine, readPaymentLedger } from '../../reports/read-payment-ledger.ts';
import type { QueuedDocument, WaitedDocument } from '../documents/commissions.ts';
import type { ExitCode } from '../exit-code.ts';
import { Stopped } from '../lifetime.ts';
import { nameUser } from '../name-user.ts';
import { isForPeople, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import {
  type AskedRow,
  describeFarDates,
  outcomeOf,
  type QueueFlags,
  readLatestOf,
  reportAskedBefore,
  reportWaitingBefore,
  requestOf,
} from './asked.ts';
import { describeCounts, paymentListing } from './listings.ts';
import { previewRows } from './preview.ts';
import type { PaymentLedgerSession, ProgramSession, RequestSession } from './session.ts';
import { describeStateTotals, renderStateTotals, totalsByState } from './totals.ts';
import { waitFor } from './wait.ts';

/** Requests beyond this many are not listed one by one in the terminal, except those that somebody must look at. */
const MOST_LISTED = 50;

/** Returns the exit code, after previewing or queueing the requests and printing what became of them. */
export async function queueUpdates(
  { ledger: session, program }: RequestSession,
  rows: readonly AskedRow[],
  flags: QueueFlags,
  source: string,
): Promise<ExitCode> {
  const farDates = describeFarDates(rows, Date.now());
  if (farDates !== null) printError(farDates);
  if (flags.dryRun === true && program !== null) return await previewRows(program, rows, flags);
  const batchId = batchName(source);
  const requested = await requestUpdates(session, rows.map(requestOf), {
    batchId,
    requestedBy: nameUser(),
    signal: session.signal,
  }).catch((error: unknown) => {
    throw error instanceof Stopped ? error.saying('nothing was queued') : error;
  });
  reportWaitingBefore(rows, requested);
  const before = requested.flatMap(({ id, isNew }) => (isNew ? [] : [id]));
  const latest = await readLatestOf(session.db, before);
  const isWorrying = reportAskedBefore(
    rows,
    requested.map((request) => (request.isNew ? null : { ...request, now: latest.get(request.id) })),
  );
  const asked = { batchId, rows, requested };
  const exitCode =
    program === null ? await reportQueued(session, asked, flags) : await wait(program, asked, flags);
  return isWorrying ? 3 : exitCode;
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
  const { batchId, requested } = asked;
  const queued = requested.filter(({ isNew }) => isNew).length;
  const isRead = !isForPeople(flags) || flags.onOutcomes !== undefined;
  const lines = isRead ? await readOutcomes(session.db, asked, flags) : [];
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
  return 0;
}

async function wait(session: ProgramSession, asked: Asked, flags: QueueFlags): Promise<ExitCode> {
  const { batchId, requested } = asked;
  const ids = requested.map(({ id }) => id);
  const { amountUnit } = session;
  const isQueued = requested.some(({ isNew }) => isNew);
  const counts = await waitFor(session, ids, isQueued ? batchId : null).catch(async (error) => {
    if (flags.onOutcomes !== undefined) {
      // As without --wait: what has not ended is pending. What cut the waiting short is the error to report.
      await readOutcomes(session.db, asked, flags).catch((failure: unknown) =>
        printError(`the result was not written: ${describeError(failure)}`),
      );
    }
    throw error;
  });
  const lines = await readOutcomes(session.db, asked, flags);
  const listed =
    !isForPeople(flags) || lines.length <= MOST_LISTED
      ? lines
      : lines.filter(({ state }) => UNMET_STATES.includes(state));
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
  // Whoever waits wants it done, whatever somebody else wants meanwhile.
  return UNMET_STATES.some((state) => counts[state] !== undefined) ? 3 : 0;
}

/**
 * Returns the requests as they are in the payment ledger now, after handing them to whoever wants the outcomes. Of what
 * was asked for before, it is noted what the program has now.
 */
async function readOutcomes(
  db: Database,
  { rows, requested }: Asked,
  { onOutcomes }: QueueFlags,
): Promise<PaymentLine[]> {
  const plain = await readPaymentLedger(
    db,
    isSelected({ kind: 'requests', ids: requested.map(({ id }) => id) }),
  );
  const before = new Set(requested.flatMap(({ id, isNew }) => (isNew ? [] : [id])));
  // Of those that are new their answer is the newest; but one may have none, and that of a due knows no later payment.
  const isMirrorAsked = ({ request, state, action }: PaymentLine) =>
    before.has(request) || !GOOD_STATES.includes(state) || action === 'due';
  const latest = await readLatest(db, plain.filter(isMirrorAsked));
  const lines = plain.map((line) => {
    const since = before.has(line.request) ? latest.get(line.request)?.since : null;
    return since == null ? line : { ...line, note: line.note === null ? since : `${line.note}; ${since}` };
  });
  const byId = new Map(lines.map((line) => [line.request, line]));
  const outcomes = requested.flatMap(({ id }, index) => {
    const payment = byId.get(id);
    if (payment === undefined) return [];
    const { paid_at, amount, currency } = latest.get(id) ?? { ...payment, paid_at: payment.paid_at_after };
    const { state } = payment;
    return [
      { line: rows[index]?.line ?? null, state, outcome: outcomeOf(payment), paid_at, amount, currency },
    ];
  });
  await onOutcomes?.(outcomes);
  return lines;
}

// Sorts by time, says where it came from, and can be typed.
function batchName(source: string): string {
  const moment = spellToTheSecond(Date.now()).replaceAll(/[-:Z]/g, '').replace('T', '-');
  const name = source.replace(/[^\w.-]+/g, '_').slice(-60);
  return `${moment}-${name}-${randomBytes(2).toString('hex')}`;
}
