// Reads a payment provider's file for a reconciliation of payouts: which affiliate was paid, how much and when.

import { type FileOptions, findSpelling, PLAIN_FILE } from './file-options.ts';
import type { Problem } from './raw-table.ts';
import { readAmount } from './read-amounts.ts';
import { readCurrency, readTimestampCell } from './read-cells.ts';
import { findStatusColumn } from './status-column.ts';
import { makeColumnFinder } from './table-columns.ts';
import { readTableFile, type TableLine } from './table-file.ts';

/** The columns that are read; the file may have others. */
export const PAYMENTS_COLUMNS = ['affiliate', 'amount', 'currency', 'paid_at'] as const;

export interface PaymentEntry {
  readonly line: number;
  /** The affiliate's identifier, email address or payout address, as the file has it. */
  readonly affiliate: string;
  /** Null if the file does not name it. */
  readonly amount: number | null;
  /** Never null if there is an amount. */
  readonly currency: string | null;
  readonly paid_at: string | null;
}

export interface PaymentsFile {
  readonly rows: readonly PaymentEntry[];
  /** Rows with a blank paid_at in a file that has the column: unpaid by the file. */
  readonly unpaid: number;
  readonly problems: readonly Problem[];
  /** See RawTable. */
  readonly notes: readonly string[];
}

/** Returns the good rows of payments with all problems of the file. */
export async function readPaymentsFile(
  bytes: Uint8Array,
  options: FileOptions = PLAIN_FILE,
): Promise<PaymentsFile> {
  const columns = {
    known: PAYMENTS_COLUMNS,
    required: ['affiliate'],
    renamed: options.renamed,
    guards: [],
    filled: new Map(),
    only: options.only,
    isOurs: () => false,
  };
  const file = await readTableFile(bytes, columns);
  const spelling = findSpelling(file.lines, { dates: ['paid_at'], amounts: ['amount'] }, options);
  const find = makeColumnFinder(columns);
  const isDated = file.header.some((name) => find(name) === 'paid_at');
  const isPaid = ({ cells }: TableLine) => !isDated || cells.has('paid_at');
  const rows: PaymentEntry[] = [];
  const problems = [...findStatusColumn(file, isPaid, options), ...file.problems];
  for (const tableLine of file.lines.filter(isPaid)) {
    const { line, cells } = tableLine;
    const ofRow: string[] = [];
    const affiliate = cells.get('affiliate');
    if (affiliate === undefined) ofRow.push('affiliate is blank');
    const paid_at = readTimestampCell('paid_at', cells.get('paid_at'), spelling.dates, ofRow);
    const currency = readCurrency('currency', cells.get('currency'), ofRow);
    const amount = readAmount('amount', tableLine, currency, spelling.amounts, ofRow);
    if (amount !== null && !cells.has('currency')) {
      ofRow.push('an amount needs its currency: fill in the column currency, or give --map currency=NAME');
    }
    problems.push(...ofRow.map((problem) => ({ line, problem })));
    if (affiliate !== undefined && ofRow.length === 0) {
      rows.push({ line, affiliate, amount, currency, paid_at });
    }
  }
  if (file.lines.length === 0 && problems.length === 0) {
    problems.push({ line: null, problem: 'the file holds no rows' });
  }
  return {
    rows,
    unpaid: file.lines.filter((line) => !isPaid(line)).length,
    notes: file.notes,
    problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}
