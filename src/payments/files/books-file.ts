// Reads the books for a reconciliation: which commissions were paid, and when.

import type { PreviewedRow } from '../preview-updates.ts';
import { GOOD_STATES } from '../update-request.ts';
import { BATCH_COLUMNS } from './batch-file.ts';
import { type FileOptions, findSpelling, PLAIN_FILE } from './file-options.ts';
import type { Problem } from './raw-table.ts';
import { readAmount } from './read-amounts.ts';
import { readCommissionId, readCurrency, readTimestampCell } from './read-cells.ts';
import { findStatusColumn, isAddedColumn, LEFT_OUT, RESULT_AMOUNT } from './status-column.ts';
import { columnName, makeColumnFinder } from './table-columns.ts';
import { readTableFile, type TableLine } from './table-file.ts';

/** The columns that are read; the file may have others. */
export const BOOKS_COLUMNS = [
  'commission_id',
  'paid_at',
  'amount',
  'currency',
  'action',
  'result_state',
] as const;

export interface BooksEntry {
  /** Its line in the file; null without a file. */
  readonly line: number | null;
  readonly commission_id: string;
  /** Null if it is unpaid by the books. */
  readonly paid_at: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
}

const SPELLED = { dates: ['paid_at'], amounts: ['amount'] };

export interface BooksFile {
  readonly rows: readonly BooksEntry[];
  readonly problems: readonly Problem[];
  /** See RawTable. */
  readonly notes: readonly string[];
}

/**
 * Returns the good rows with all problems of the file. If it has a column result_state, a row in any other state than
 * applied or unchanged is unpaid, with any paid_at. A row that was left out, and one whose action is due, say
 * nothing of a payment, and are not compared; one whose action is unpay has no paid_at, and so is unpaid. The result of
 * a dry run is a problem: it says nothing of payments.
 */
export async function readBooksFile(
  bytes: Uint8Array,
  options: FileOptions = PLAIN_FILE,
): Promise<BooksFile> {
  const columns = {
    known: BOOKS_COLUMNS,
    required: ['commission_id', 'paid_at'],
    renamed: options.renamed,
    guards: [],
    filled: new Map(),
    only: options.only,
    isOurs: (name: string) =>
      isAddedColumn(name) || BATCH_COLUMNS.some((column) => column === columnName(name)),
  };
  const file = await readTableFile(bytes, columns);
  const isInMajor = options.renamed.get('amount')?.toLowerCase() === RESULT_AMOUNT;
  const unit = options.unit ?? (isInMajor ? 'major' : null);
  const spelling = findSpelling(file.lines, SPELLED, { ...options, unit });
  const compared = file.lines.filter(isCompared);
  const rows: BooksEntry[] = [];
  const lineOf = new Map<string, number>();
  const find = makeColumnFinder(columns);
  const isResult = file.header.some((name) => find(name) === 'result_state');
  if (isResult && file.lines.some(isOfDryRun)) {
    const problem =
      'the file is the result of a dry run, which paid nothing: give the --result of apply with --wait';
    return { rows, notes: file.notes, problems: [{ line: null, problem }] };
  }
  const isPaid = (line: TableLine) => line.cells.has('paid_at') && (!isResult || isPaidState(line));
  const problems = [
    // A result of ours says itself which rows were paid.
    ...(isResult ? [] : findStatusColumn(file, (line) => isCompared(line) && isPaid(line), options)),
    ...file.problems,
  ];
  for (const tableLine of compared) {
    const { line, cells } = tableLine;
    const ofRow: string[] = [];
    const commissionId = readCommissionId(cells.get('commission_id'), ofRow);
    const paidAt = readTimestampCell('paid_at', cells.get('paid_at'), spelling.dates, ofRow);
    const currency = readCurrency('currency', cells.get('currency'), ofRow);
    const amount = readAmount('amount', tableLine, currency, spelling.amounts, ofRow);
    const before = lineOf.get(commissionId ?? '');
    if (before !== undefined) ofRow.push(`the commission ${commissionId} is on line ${before} already`);
    problems.push(...ofRow.map((problem) => ({ line, problem })));
    if (commissionId === null || ofRow.length > 0) continue;
    lineOf.set(commissionId, line);
    rows.push({
      line,
      commission_id: commissionId,
      paid_at: isPaid(tableLine) ? paidAt : null,
      amount,
      currency,
    });
  }
  if (rows.length === 0 && problems.length === 0) {
    problems.push({ line: null, problem: 'the file holds no rows' });
  }
  return {
    rows,
    notes: file.notes,
    problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

function isCompared({ cells }: TableLine): boolean {
  const isLeftOut = cells.get('result_state')?.toLowerCase() === LEFT_OUT;
  return !isLeftOut && cells.get('action')?.toLowerCase() !== 'due';
}

const OF_DRY_RUN: readonly string[] = ['change', 'asked_before'] satisfies PreviewedRow['would'][];

function isOfDryRun({ cells }: TableLine): boolean {
  return OF_DRY_RUN.includes(cells.get('result_state')?.toLowerCase() ?? '');
}

// A result of `commissions apply` has the paid_at that was asked for in every row.
function isPaidState({ cells }: TableLine): boolean {
  const state = cells.get('result_state')?.toLowerCase();
  return GOOD_STATES.some((good) => good === state);
}
