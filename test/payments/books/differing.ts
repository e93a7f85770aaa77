// Differences between books and API, for tests of what becomes of them.

import type { ReconciledRow } from '../../../src/payments/books/reconcile-books.ts';

/** Returns as many commissions that the books have as paid, and the API has not. */
export function differing(count: number, amount = 500): ReconciledRow[] {
  return Array.from({ length: count }, (_, index) => ({
    line: null,
    commission_id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    finding: 'unpaid_upstream',
    books_paid_at: '2026-10-01T12:00:00Z',
    program_paid_at: null,
    books_amount: amount,
    program_amount: amount,
    books_currency: 'EUR',
    program_currency: 'EUR',
  }));
}
