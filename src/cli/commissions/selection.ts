// Which requests a user points at with one word: one request by its number, all for a commission by its identifier, or
// a batch by its name. Whoever asks by SQL chooses that name, and it may look like either of the others.

import { isSelected, type Selection } from '../../commissions/select-requests.ts';
import { identifier } from '../../contract/fields.ts';
import type { Database } from '../../db/database.ts';
import { ConfigError } from '../../errors.ts';
import { type PaymentLine, readPaymentLedger } from '../../reports/read-payment-ledger.ts';

export interface Selected {
  readonly selection: Selection;
  /** Never empty. */
  readonly lines: readonly PaymentLine[];
}

/** Returns what the word names. Throws: ConfigError where that is nothing, or two things with different requests. */
export async function findSelected(db: Database, word: string): Promise<Selected> {
  const found: Selected[] = [];
  for (const selection of meaningsOf(word.trim())) {
    const lines = await readPaymentLedger(db, isSelected(selection));
    if (lines.length > 0) found.push({ selection, lines });
  }
  const [first, second] = found;
  if (first === undefined) {
    throw new ConfigError([
      `the payment ledger has no batch, request or commission ${word}: "affiliate-mirror commissions status" lists the batches`,
    ]);
  }
  if (second !== undefined && numbersOf(first) !== numbersOf(second)) {
    const other = first.selection.kind === 'requests' ? 'the number of a request' : 'a commission';
    throw new ConfigError([
      `${word} is ${other}, and a batch of other requests has that name too: point at one of them, or at a commission of it`,
    ]);
  }
  return first;
}

function meaningsOf(text: string): readonly Selection[] {
  const batch: Selection = { kind: 'batch', batchId: text };
  if (/^\d{1,15}$/.test(text)) return [{ kind: 'requests', ids: [Number(text)] }, batch];
  if (!identifier.safeParse(text).success) return [batch];
  return [{ kind: 'commission', commissionId: text.toLowerCase() }, batch];
}

function numbersOf({ lines }: Selected): string {
  return lines.map(({ request }) => request).join(' ');
}
