// What became of the requests of one command; of those that were asked for before, also what the program has now.

import { type Latest, readLatest } from '../../commissions/requests/read-latest.ts';
import type { RequestedUpdate } from '../../commissions/requests/request-updates.ts';
import { isSelected } from '../../commissions/select-requests.ts';
import { GOOD_STATES } from '../../commissions/update-request.ts';
import type { UpdateState } from '../../contract/payment-request.ts';
import type { Database } from '../../db/database.ts';
import { type PaymentLine, readPaymentLedger } from '../../reports/read-payment-ledger.ts';
import { printError } from '../output/print.ts';
import { outcomeOfPayment, type RowOutcome } from './apply-outcome.ts';
import { askAnew } from './listings.ts';

/** What is said of a request of the row, on stderr. */
interface Repeated {
  readonly row: { readonly line: number | null; readonly hasOwnKey: boolean } | undefined;
  readonly request: number;
  readonly state: UpdateState;
  readonly now: Latest | undefined;
}

/**
 * Names on stderr those of which the program has no longer what their request left. Returns whether there is one: then
 * the program does not have what was asked.
 */
export function reportChangedSince(repeated: readonly Repeated[]): boolean {
  const changed = repeated.filter(({ now }) => now != null && now.since !== null);
  for (const { row, request, state, now } of changed) {
    const where = row === undefined || row.line === null ? '' : `line ${row.line}: `;
    const hint = askAnew(row?.hasOwnKey === true);
    printError(`${where}request ${request} asked for this and ended as ${state}; ${now?.since}: ${hint}`);
  }
  return changed.length > 0;
}

/**
 * Returns the requests as they are in the payment ledger now, after handing them to whoever wants the outcomes, and
 * whether the program has something else by now of one that was asked for before. `requested` has one for each row.
 */
export async function readOutcomes(
  db: Database,
  rows: readonly NonNullable<Repeated['row']>[],
  requested: readonly RequestedUpdate[],
  onOutcomes: ((outcomes: readonly RowOutcome[]) => Promise<void>) | undefined,
): Promise<{ lines: PaymentLine[]; isChangedSince: boolean }> {
  const plain = await readPaymentLedger(
    db,
    isSelected({ kind: 'requests', ids: requested.map(({ id }) => id) }),
  );
  const before = new Set(requested.flatMap(({ id, isNew }) => (isNew ? [] : [id])));
  // Of those that are new their answer is the newest; but one may have none, and that of a due knows no later payment.
  const isMirrorAsked = ({ request, state, action }: PaymentLine) =>
    before.has(request) || !GOOD_STATES.includes(state) || action === 'due';
  const latest = await readLatest(db, plain.filter(isMirrorAsked));
  const lines = plain.map((line) =>
    before.has(line.request) ? noteSince(line, latest.get(line.request)) : line,
  );
  const byId = new Map(lines.map((line) => [line.request, line]));
  const found = requested.flatMap(({ id, overtaken_by }, index) => {
    const payment = byId.get(id);
    return payment === undefined ? [] : [{ row: rows[index], payment, now: latest.get(id), overtaken_by }];
  });
  await onOutcomes?.(found.map(({ row, payment, now }) => outcomeOfPayment(row?.line ?? null, payment, now)));
  // Where a later request came, that was said when this one was found.
  const unsaid = found.filter(
    ({ payment, overtaken_by }) => before.has(payment.request) && overtaken_by === null,
  );
  const isChangedSince = reportChangedSince(
    unsaid.map(({ row, payment, now }) => ({
      row,
      request: payment.request,
      state: payment.state,
      now,
    })),
  );
  return { lines, isChangedSince };
}

function noteSince(line: PaymentLine, now: Latest | undefined): PaymentLine {
  if (now === undefined || now.since === null) return line;
  return { ...line, note: line.note === null ? now.since : `${line.note}; ${now.since}` };
}
