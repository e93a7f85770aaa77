// Reads the books that a reconciliation compares with the program: which commissions were paid, and when. Pure.

import { readAmount, readCommissionId, readCurrency, readTimestampCell } from './batch-file.ts';
import { type Problem, readTableFile } from './table-file.ts';

/** The columns that are read; the file may have others. */
export const LEDGER_COLUMNS = ['commission_id', 'paid_at', 'amount', 'currency'] as const;

export interface LedgerRow {
  readonly line: number;
  readonly commission_id: string;
  /** Null where the books say that it is unpaid. */
  readonly paid_at: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
}

/** Returns the good rows with all problems of the file. */
export function readLedgerFile(bytes: Uint8Array): {
  readonly rows: readonly LedgerRow[];
  readonly problems: readonly Problem[];
} {
  const file = readTableFile(bytes, {
    known: LEDGER_COLUMNS,
    required: ['commission_id', 'paid_at'],
    othersAllowed: true,
  });
  const problems = [...file.problems];
  const rows: LedgerRow[] = [];
  const lineOf = new Map<string, number>();
  for (const { line, cells } of file.lines) {
    const ofRow: string[] = [];
    const commissionId = readCommissionId(cells.get('commission_id'), ofRow);
    const paidAt = readTimestampCell('paid_at', cells.get('paid_at'), ofRow);
    const amount = readAmount('amount', cells.get('amount'), ofRow);
    const currency = readCurrency('currency', cells.get('currency'), ofRow);
    const before = lineOf.get(commissionId ?? '');
    if (before !== undefined) ofRow.push(`the commission ${commissionId} is on line ${before} already`);
    problems.push(...ofRow.map((problem) => ({ line, problem })));
    if (commissionId === null || ofRow.length > 0) continue;
    lineOf.set(commissionId, line);
    rows.push({ line, commission_id: commissionId, paid_at: paidAt, amount, currency });
  }
  if (rows.length === 0 && problems.length === 0) {
    problems.push({ line: null, problem: 'the file holds no rows' });
  }
  return { rows, problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}
