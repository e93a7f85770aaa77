// What became of each row of a payout file, for the file that finance gets to hand back.

import type { Latest } from '../../commissions/requests/read-latest.ts';
import type { PaymentLine } from '../../reports/read-payment-ledger.ts';
import { outcomeOf, type PreviewRow } from './listings.ts';

export interface RowOutcome {
  readonly line: number | null;
  readonly state: string;
  readonly outcome: string;
  /** What the program has now, as far as it was read; of what was asked for before, as far as the mirror knows. */
  readonly paid_at: string | null;
  /** As the program counts. */
  readonly amount: number | null;
  readonly currency: string | null;
}

/** Returns the outcome of a row of a dry run. */
export function outcomeOfPreview(row: PreviewRow): RowOutcome {
  const { line, would, paid_at, amount, currency } = row;
  return { line, state: would, outcome: outcomeOf(row), paid_at, amount, currency };
}

/** Returns the outcome of a row whose request is in the payment ledger; `now` where the mirror was asked. */
export function outcomeOfPayment(
  line: number | null,
  payment: PaymentLine,
  now: Latest | undefined,
): RowOutcome {
  const { state, paid_at_after } = payment;
  const { paid_at, amount, currency } = now ?? { ...payment, paid_at: paid_at_after };
  return { line, state, outcome: outcomeOf(payment), paid_at, amount, currency };
}
