// Reads a payout file: a batch of commission updates. All problems of a file are found at once, and each names its
// line.

import type { Action } from '../../contract/payment-request.ts';
import { contentKey } from '../requests/content-key.ts';
import { quote } from '../timestamps.ts';
import { LONGEST_KEY, plainRequest, type UpdateRequest } from '../update-request.ts';
import { findRepeats } from './contradicting-rows.ts';
import { type FileOptions, type FileSpelling, findSpelling, PLAIN_FILE } from './file-options.ts';
import type { Problem } from './raw-table.ts';
import { readAmount } from './read-amounts.ts';
import { findAction, readCommissionId, readCurrency, readFlag, readTimestampCell } from './read-cells.ts';
import { findStatusColumn } from './status-column.ts';
import { readTableFile, type TableFile, type TableLine } from './table-file.ts';

/** The columns of a batch, in the order of the documentation. */
export const BATCH_COLUMNS = [
  'commission_id',
  'action',
  'paid_at',
  'due_at',
  'expected_paid_at',
  'expected_amount',
  'expected_currency',
  'even_if_refunded',
  'reason',
  'idempotency_key',
] as const;

const SPELLED = { dates: ['paid_at', 'due_at', 'expected_paid_at'], amounts: ['expected_amount'] };

/** The word in expected_paid_at where the commission is expected to be unpaid. */
const EXPECT_UNPAID = 'unpaid';

export interface BatchRow {
  readonly line: number;
  readonly request: UpdateRequest;
  /** Whether the row names its idempotency key itself; else the key is made of what it asks for. */
  readonly hasOwnKey: boolean;
}

export interface BatchOptions extends FileOptions {
  /** Of every row, where the file has no such column. */
  readonly action: Action | null;
  /** Every pay is to be paid even where its sale was refunded in full. */
  readonly evenIfRefunded: boolean;
}

export interface BatchFile {
  readonly table: TableFile;
  readonly spelling: FileSpelling;
  readonly rows: readonly BatchRow[];
  /** In the order of the lines. */
  readonly problems: readonly Problem[];
  /** How many lines hold a row, good or bad. */
  readonly rowCount: number;
}

/**
 * Returns the good rows with all problems of the file.
 *
 * Every row has an idempotency key: its own, or one made of what it asks for. So the same row asks for the same thing
 * once, whatever the file, the order or the spelling.
 */
export async function readBatchFile(
  bytes: Uint8Array,
  options: BatchOptions = { ...PLAIN_FILE, action: null, evenIfRefunded: false },
): Promise<BatchFile> {
  const columns = {
    known: BATCH_COLUMNS,
    required: ['commission_id', 'action'],
    renamed: options.renamed,
    guards: BATCH_COLUMNS.filter((name) => name.startsWith('expected_')),
    filled: new Map(options.action === null ? [] : [['action', options.action]]),
    only: options.only,
  };
  const file = await readTableFile(bytes, columns);
  const spelling = findSpelling(file.lines, SPELLED, options);
  const unsaid = findStatusColumn(file, asksToPay, options);
  const problems = [...unsaid, ...file.problems];
  const badLines = new Set(problems.flatMap(({ line }) => line ?? []));
  const rows: BatchRow[] = [];
  for (const line of file.lines) {
    const ofRow: string[] = [];
    const request = readRow(line, options, spelling, ofRow);
    problems.push(...ofRow.map((problem) => ({ line: line.line, problem })));
    if (request !== null && ofRow.length === 0 && !badLines.has(line.line)) {
      const ownKey = line.cells.get('idempotency_key');
      const idempotency_key = ownKey ?? contentKey(request);
      rows.push({
        line: line.line,
        request: { ...request, idempotency_key },
        hasOwnKey: ownKey !== undefined,
      });
    }
  }
  const repeats = findRepeats(rows);
  for (const repeat of repeats) problems.push(repeat);
  const repeated = new Set(repeats.map(({ line }) => line));
  if (file.lines.length === 0 && problems.length === 0)
    problems.push({ line: null, problem: 'the file holds no rows' });
  return {
    table: file,
    spelling,
    rows: unsaid.length > 0 ? [] : rows.filter(({ line }) => !repeated.has(line)),
    problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    rowCount: new Set([...file.lines.map(({ line }) => line), ...badLines]).size,
  };
}

function asksToPay({ cells }: TableLine): boolean {
  const action = findAction(cells.get('action'));
  return cells.has('paid_at') && (action === undefined || action === 'pay');
}

/** Returns what the row asks for, without its key. */
function readRow(
  line: TableLine,
  { evenIfRefunded }: BatchOptions,
  spelling: FileSpelling,
  problems: string[],
): UpdateRequest | null {
  const { cells } = line;
  const readTime = (name: string, alternative = '') =>
    readTimestampCell(name, cells.get(name), spelling.dates, problems, alternative);
  const commissionId = readCommissionId(cells.get('commission_id'), problems);
  const action = readAction(cells.get('action'), problems);
  const paidAt = readTime('paid_at');
  const dueAt = readTime('due_at');
  if (action !== null) problems.push(...misfits(action, cells));
  const isUnpaidExpected = cells.get('expected_paid_at')?.toLowerCase() === EXPECT_UNPAID;
  const expectedPaidAt = isUnpaidExpected ? null : readTime('expected_paid_at', `, or ${EXPECT_UNPAID}`);
  const expectedCurrency = readCurrency('expected_currency', cells.get('expected_currency'), problems);
  const expectedAmount = readAmount('expected_amount', line, expectedCurrency, spelling.amounts, problems);
  const isRefundForgiven = readFlag('even_if_refunded', cells.get('even_if_refunded'), problems);
  if (isRefundForgiven && action !== null && action !== 'pay') {
    problems.push(
      `even_if_refunded is true with ${action}: leave it blank, a refund holds back nothing but a pay`,
    );
  }
  const keyLength = [...(cells.get('idempotency_key') ?? '')].length;
  if (keyLength > LONGEST_KEY) {
    problems.push(`idempotency_key has ${keyLength} characters: shorten it to ${LONGEST_KEY} or fewer`);
  }
  for (const [name, value] of cells) {
    if (!value.isWellFormed() || value.includes('\0'))
      problems.push(`${name} holds a character that cannot be stored`);
  }
  if (commissionId === null || action === null || problems.length > 0) return null;
  return plainRequest({
    commission_id: commissionId,
    action,
    paid_at: paidAt,
    due_at: dueAt,
    expected_unpaid: isUnpaidExpected,
    expected_paid_at: expectedPaidAt,
    expected_amount: expectedAmount,
    expected_currency: expectedCurrency,
    even_if_refunded: action === 'pay' && (isRefundForgiven || evenIfRefunded),
    reason: cells.get('reason') ?? null,
  });
}

function readAction(text: string | undefined, problems: string[]): Action | null {
  if (text === undefined) {
    problems.push('action is blank: it must be pay, unpay or due');
    return null;
  }
  const action = findAction(text);
  if (action === undefined) problems.push(`unknown action ${quote(text)}: it must be pay, unpay or due`);
  return action ?? null;
}

/** What each action sets; whatever else is given contradicts it. */
const SETS: Readonly<Record<Action, string | null>> = { pay: 'paid_at', unpay: null, due: 'due_at' };

function misfits(action: Action, cells: ReadonlyMap<string, string>): string[] {
  return ['paid_at', 'due_at'].flatMap((name) => {
    const isNeeded = name === SETS[action];
    if (isNeeded && !cells.has(name)) {
      return [`${name} is blank: ${action} needs it (to take a payment back, the action is unpay)`];
    }
    return !isNeeded && cells.has(name) ? [`${name} is given with ${action}: leave it blank`] : [];
  });
}
