// Asks for the payments of rows from a file or the command line as one batch, or answers them without asking, and reads
// the outcome of each.

import { randomBytes } from 'node:crypto';
import { spellToTheSecond } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { type PaymentLine, readPaymentLedger } from '../../reports/read-payment-ledger.ts';
import type { BatchFile } from '../files/batch-file.ts';
import { isSelected } from '../select-requests.ts';
import { quote } from '../timestamps.ts';
import { GOOD_STATES } from '../update-request.ts';
import { joinNotes, outcomeOf } from '../update-words.ts';
import { describeOvertaken, type Earlier, isOvertaken, OVERTAKEN } from './earlier.ts';
import { readLatest } from './read-latest.ts';
import {
  type Answer,
  type AskedPayout,
  type AskedUpdate,
  foreseeAnswers,
  type RequestedUpdate,
  requestUpdates,
} from './request-updates.ts';

/** A request with its line in the file; null if it comes from no file. */
export interface AskedRow {
  readonly line: number | null;
  readonly request: AskedUpdate | AskedPayout;
  /** Whether the user chose the idempotency key: then --again changes nothing about it. */
  readonly hasOwnKey: boolean;
}

/** Each list has one element for each row. */
export interface Answers<Row extends Answer = Answer> {
  readonly answers: readonly Row[];
  /** Null if the row was not asked for before. */
  readonly earlier: readonly (Earlier | null)[];
}

export interface AskedBatch extends Answers<RequestedUpdate> {
  readonly batchId: string;
  readonly rows: readonly AskedRow[];
}

/** The request that answers a row, as it is in the payment ledger now. */
export interface AskedLine extends PaymentLine {
  /** Of the row; null if it comes from no file. */
  readonly line: number | null;
  /** Whether it had ended before it was asked for here. */
  readonly ended_before: boolean;
  /** See Answer. */
  readonly overtaken_by: number | null;
}

/** The outcome of a row, for the result file. */
export interface RowOutcome {
  readonly line: number | null;
  readonly state: string;
  readonly outcome: string;
  /** The values that were read last; of a row that was asked for before, those of the mirror. */
  readonly paid_at: string | null;
  /** In the API's unit. */
  readonly amount: number | null;
  readonly currency: string | null;
}

/**
 * Asks for all of the rows as one batch, named after the source, or for none.
 *
 * Throws: the errors of `requestUpdates`.
 */
export async function askForRows(
  db: Database,
  rows: readonly AskedRow[],
  { source, requestedBy, signal }: { source: string; requestedBy: string; signal: AbortSignal },
): Promise<AskedBatch> {
  const batchId = nameBatch(source);
  const answers = await requestUpdates({ db }, rows.map(requestOf), { batchId, requestedBy, signal });
  return { batchId, rows, answers, earlier: await findEarlier(db, answers) };
}

/** Returns the answers that the rows would get now. Asks for nothing. */
export async function foreseeRows(db: Database, rows: readonly AskedRow[]): Promise<Answers> {
  const answers = await foreseeAnswers(db, rows.map(requestOf));
  return { answers, earlier: await findEarlier(db, answers) };
}

/** A file that was read, with its good rows. */
export type AskedFile = Omit<BatchFile, 'rows'> & {
  readonly rows: readonly (AskedRow & { readonly line: number })[];
};

/** Returns the file; a row whose own key another request has becomes a problem. */
export async function refuseTakenKeys(db: Database, batch: AskedFile): Promise<AskedFile> {
  const named = batch.rows.filter(({ hasOwnKey }) => hasOwnKey);
  const answers = await foreseeAnswers(
    db,
    named.map(({ request }) => request),
  );
  const taken = named.flatMap(({ line, request: { idempotency_key } }, index) => {
    const { answer, id, action, commission_id, payout_id } = answers[index] ?? {};
    if (answer !== 'key taken') return [];
    const problem = `the idempotency_key ${quote(idempotency_key ?? '')} is that of request ${id} already (${action} of ${commission_id === null ? `payout ${payout_id}` : `commission ${commission_id}`}): give this row a key of its own, or none`;
    return [{ line, problem }];
  });
  const lines = new Set(taken.map(({ line }) => line));
  return {
    ...batch,
    rows: batch.rows.filter(({ line }) => !lines.has(line)),
    problems: [...batch.problems, ...taken].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

/** A request that waits for the same answers the row, although no key finds it. */
function requestOf({ request }: AskedRow): AskedUpdate | AskedPayout {
  return { ...request, unless_waiting: true };
}

async function findEarlier(db: Database, answers: readonly Answer[]): Promise<(Earlier | null)[]> {
  const ids = answers.flatMap(({ id, isNew }) => (isNew ? [] : (id ?? [])));
  const latest = await readLatest(db, ids);
  return answers.map(({ id, isNew, ...answer }) =>
    isNew || id === null ? null : { ...answer, id, now: latest.get(id) },
  );
}

/**
 * Returns the requests of the batch as they are in the payment ledger now, in the order of the rows, and the outcome of
 * each row. A request that was asked for before says what became of the commission since.
 */
export async function readOutcomes(
  db: Database,
  { rows, answers, earlier }: AskedBatch,
): Promise<{ readonly lines: readonly AskedLine[]; readonly outcomes: readonly RowOutcome[] }> {
  const ids = answers.map(({ id }) => id);
  const written = await readPaymentLedger(db, isSelected({ kind: 'requests', ids }));
  const before = new Map(earlier.flatMap((one) => (one === null ? [] : [[one.id, one] as const])));
  const places = new Map(ids.map((id, index) => [id, index]));
  // A new request has the newest values in its answer; but it may have none, and that of a due knows no later payment.
  const asked = written.filter(
    ({ request, state, action }) => before.has(request) || !GOOD_STATES.includes(state) || action === 'due',
  );
  const latest = await readLatest(
    db,
    asked.map(({ request }) => request),
  );
  const lines = written
    .map((written): AskedLine => {
      const { request } = written;
      const line = rows[places.get(request) ?? -1]?.line ?? null;
      const one = before.get(request);
      if (one === undefined) return { ...written, line, ended_before: false, overtaken_by: null };
      const { overtaken_by } = one;
      const now = latest.get(request);
      const asked = { ...written, line, ended_before: one.state !== 'pending', overtaken_by };
      if (isOvertaken(asked)) return { ...asked, outcome: describeOvertaken({ ...one, now }), note: null };
      return { ...asked, note: joinNotes([written.note, now?.since ?? null]) };
    })
    .toSorted((a, b) => (places.get(a.request) ?? 0) - (places.get(b.request) ?? 0));
  const byId = new Map(lines.map((line) => [line.request, line]));
  const outcomes = ids.flatMap((id, index): RowOutcome[] => {
    const payment = byId.get(id);
    if (payment === undefined) return [];
    const { paid_at, amount, currency } = latest.get(id) ?? { ...payment, paid_at: payment.paid_at_after };
    const line = rows[index]?.line ?? null;
    const says = outcomeOf(payment);
    if (isOvertaken(payment)) return [{ line, state: OVERTAKEN, outcome: says, paid_at, amount, currency }];
    const { state, ended_before } = payment;
    // Two results of one file are not to look like two payments.
    const outcome = ended_before ? `${state} before: ${says}` : says;
    return [{ line, state, outcome, paid_at, amount, currency }];
  });
  return { lines, outcomes };
}

/** The name sorts by time, contains the source, and can be typed. */
function nameBatch(source: string): string {
  const moment = spellToTheSecond(Date.now()).replaceAll(/[-:Z]/g, '').replace('T', '-');
  const name = source.replace(/[^\w.-]+/g, '_').slice(-60);
  return `${moment}-${name}-${randomBytes(2).toString('hex')}`;
}
