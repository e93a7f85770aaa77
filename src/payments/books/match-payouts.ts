// Compares a payment provider's payments with the payouts of the mirror, by affiliate and amount. Pure.

import type { PaidPayout } from '../../reports/read-paid-payouts.ts';
import type { PaymentEntry } from '../files/payments-file.ts';
import { type FindingTotal, sumFindings } from './sum-findings.ts';

/** Every finding with its meaning, in the order of the report. */
export const PAYOUT_FINDINGS = {
  match: 'the file and the affiliate program agree',
  amount_not_compared: 'they agree, but for the amount, which the file does not name',
  different_amount: 'both have a payout of the affiliate in this currency, of another amount',
  not_paid: 'paid in the file, not in the affiliate program',
  not_in_books: 'paid in the affiliate program, missing in the file',
  unknown_affiliate: 'the mirror has no affiliate with this identifier or address',
} as const;

export type PayoutFinding = keyof typeof PAYOUT_FINDINGS;

export interface MatchedPayout {
  /** In the file; null if the file lacks it. */
  readonly line: number | null;
  /** As the file names the affiliate; null if the file lacks it. */
  readonly affiliate: string | null;
  /** Null if there is none, or several share the address. */
  readonly affiliate_id: string | null;
  readonly payout_id: string | null;
  readonly finding: PayoutFinding;
  readonly state: string | null;
  readonly books_paid_at: string | null;
  readonly program_paid_at: string | null;
  readonly books_amount: number | null;
  readonly program_amount: number | null;
  readonly books_currency: string | null;
  readonly program_currency: string | null;
}

/** A payment with the affiliates that it may be of: several if they share an address. */
export interface Payment extends PaymentEntry {
  readonly affiliateIds: readonly string[];
}

/**
 * Returns one row per payment, in the order of the file, then the payouts that the file lacks. `payouts` are in order
 * of time. Payments of an affiliate in a currency go to payouts of equal amounts first, those that are left to the
 * payouts that are left, each in order of time.
 */
export function matchPayouts(
  payments: readonly Payment[],
  payouts: readonly PaidPayout[],
): readonly MatchedPayout[] {
  const left = new Map<string | null, PaidPayout[]>();
  for (const payout of payouts) {
    const of = left.get(payout.affiliate_id);
    if (of === undefined) left.set(payout.affiliate_id, [payout]);
    else of.push(payout);
  }
  const inTime = payments.toSorted(compareTimes);
  const found = new Map<Payment, PaidPayout>();
  const take = (isEqual: (payment: Payment, payout: PaidPayout) => boolean) => {
    for (const payment of inTime) {
      if (found.has(payment)) continue;
      for (const of of payment.affiliateIds.flatMap((id) => [left.get(id) ?? []])) {
        const index = of.findIndex((payout) => isOfCurrency(payment, payout) && isEqual(payment, payout));
        const [payout] = index === -1 ? [] : of.splice(index, 1);
        if (payout === undefined) continue;
        found.set(payment, payout);
        break;
      }
    }
  };
  take((payment, payout) => payment.amount === payout.amount);
  take(() => true);
  const lacking = new Set(payouts).difference(new Set(found.values()));
  return [
    ...payments.map((payment) => rowOf(payment, found.get(payment) ?? null)),
    ...[...lacking].map((payout) => rowOf(null, payout)),
  ];
}

/** Returns the sums by currency and finding, in the order of the report. What is being paid counts as paid. */
export function payoutTotals(rows: readonly MatchedPayout[]): FindingTotal<PayoutFinding>[] {
  const summands = rows.map((row) => ({
    currency: row.program_currency ?? row.books_currency ?? '?',
    finding: row.finding,
    booksPaid: row.line === null ? 0 : row.books_amount,
    programPaid: row.program_amount ?? 0,
  }));
  return sumFindings(summands, Object.keys(PAYOUT_FINDINGS) as PayoutFinding[]);
}

function isOfCurrency({ currency }: Payment, payout: PaidPayout): boolean {
  return currency === null || currency === payout.currency;
}

/** A payment without a time comes last. */
function compareTimes(a: Payment, b: Payment): number {
  const [one, other] = [a, b].map(({ paid_at }) =>
    paid_at === null ? Number.MAX_VALUE : Date.parse(paid_at),
  );
  return (one ?? 0) - (other ?? 0);
}

function rowOf(payment: Payment | null, payout: PaidPayout | null): MatchedPayout {
  const [only, another] = payment?.affiliateIds ?? [];
  return {
    line: payment?.line ?? null,
    affiliate: payment?.affiliate ?? null,
    affiliate_id: payout?.affiliate_id ?? (another === undefined ? (only ?? null) : null),
    payout_id: payout?.payout_id ?? null,
    finding: find(payment, payout),
    state: payout?.state ?? null,
    books_paid_at: payment?.paid_at ?? null,
    program_paid_at: payout?.paid_at ?? null,
    books_amount: payment?.amount ?? null,
    program_amount: payout?.amount ?? null,
    books_currency: payment?.currency ?? null,
    program_currency: payout?.currency ?? null,
  };
}

function find(payment: Payment | null, payout: PaidPayout | null): PayoutFinding {
  if (payment === null) return 'not_in_books';
  if (payment.affiliateIds.length === 0) return 'unknown_affiliate';
  if (payout === null) return 'not_paid';
  if (payment.amount === null) return 'amount_not_compared';
  return payment.amount === payout.amount ? 'match' : 'different_amount';
}
