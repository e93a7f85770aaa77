// Reads a payout file. All problems of a file are found at once, and each names its line.

import type { Action } from '../../contract/payment-request.ts';
import { quote } from '../timestamps.ts';
import { contentKey, LONGEST_KEY, plainRequest, type UpdateRequest } from '../update-request.ts';
import { type FileOptions, type FileSpelling, findSpelling, PLAIN_FILE } from './file-options.ts';
import type { Problem } from './raw-table.ts';
import { type AmountSpelling, readAmount } from './read-amounts.ts';
import { findAction, readCommissionId, readCurrency, readFlag, readTimestampCell } from './read-cells.ts';
import { findStatusColumn, isAddedColumn } from './status-column.ts';
import { readTableFile, type TableFile, type TableLine } from './table-file.ts';

/** The columns of a batch, in the order of the documentation. */
export const BATCH_COLUMNS = [
  'commission_id',
  'action',
  'paid_at',
  'due_at',
  'expected_paid_at',
  'expected_amount',
  'expected_amount_major',
  'expected_currency',
  'even_if_refunded',
  'reason',
  'idempotency_key',
] as const;

/** Always in the currency's own unit, because Excel keeps 84.00 as 84. */
export const MAJOR_AMOUNT = 'expected_amount_major';

const DATES = ['paid_at', 'due_at', 'expected_paid_at'];

/** The word in expected_paid_at for a commission that is expected to be unpaid. */
const EXPECT_UNPAID = 'unpaid';

export interface BatchRow {
  readonly line: number;
  readonly request: UpdateRequest;
  /** Whether the row names its idempotency key itself; else the key is made of the row's content. */
  readonly hasOwnKey: boolean;
}

export interface BatchOptions extends FileOptions {
  /** The action of every row, if the file has no such column. */
  readonly action: Action | null;
  /** Every pay is made even if its sale was refunded in full. */
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
 * Every row has an idempotency key: its own, or one made of its content. So the same row asks for the same payment
 * once, in any file, order or spelling.
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
    isOurs: isAddedColumn,
  };
  const file = await readTableFile(bytes, columns);
  const spelling = findFileSpelling(file.lines, DATES, options);
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

/** Returns how the lines spell dates of these columns, and amounts. */
export function findFileSpelling(
  lines: readonly TableLine[],
  dates: readonly string[],
  options: FileOptions,
): FileSpelling {
  const found = findSpelling(lines, { dates, amounts: ['expected_amount', MAJOR_AMOUNT] }, options);
  const isInMajor = lines.some(({ cells }) => cells.has(MAJOR_AMOUNT));
  return isInMajor ? { ...found, amounts: { ...found.amounts, hasDecimals: true } } : found;
}

/** Returns the amount of either column, in the API's unit; null if both are blank, or, with a problem, hold none. */
export function readExpectedAmount(
  line: TableLine,
  currency: string | null,
  spelling: AmountSpelling,
  problems: string[],
): number | null {
  const major = readAmount(MAJOR_AMOUNT, line, currency, { ...spelling, unit: 'major' }, problems);
  const amount = readAmount('expected_amount', line, currency, spelling, problems);
  if (line.cells.has(MAJOR_AMOUNT) && line.cells.has('expected_amount')) {
    problems.push(`expected_amount and ${MAJOR_AMOUNT} are both given: empty one of them`);
  }
  return major ?? amount;
}

function asksToPay({ cells }: TableLine): boolean {
  const action = findAction(cells.get('action'));
  return cells.has('paid_at') && (action === undefined || action === 'pay');
}

/** Returns the row's request, without its key. */
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
  const expectedAmount = readExpectedAmount(line, expectedCurrency, spelling.amounts, problems);
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

/** The column that each action sets; any other value contradicts it. */
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

/**
 * Returns the problems of rows that contradict each other: one problem at most for each. One of them is a mistake, and
 * which one is not known here, so each is a problem.
 */
function findRepeats(rows: readonly BatchRow[]): Problem[] {
  const ofKey = describeEach(
    rows.filter(({ hasOwnKey }) => hasOwnKey),
    ({ idempotency_key }) => `idempotency_key ${quote(idempotency_key ?? '')} is`,
  );
  const ofValue = describeEach(
    rows,
    ({ commission_id, action }) => `the commission ${commission_id} gets its ${setBy(action)}`,
  );
  return [...new Map([...ofKey, ...ofValue].map((one) => [one.line, one])).values()];
}

/** Describes each of several rows for which `nameOf` is the same: it names the first row, and the first the second. */
function describeEach(rows: readonly BatchRow[], nameOf: (request: UpdateRequest) => string): Problem[] {
  return [...Map.groupBy(rows, ({ request }) => nameOf(request))].flatMap(
    ([name, [first, second, ...more]]) => {
      if (first === undefined || second === undefined) return [];
      return [first, second, ...more].map(({ line }) => {
        const other = line === first.line ? second.line : first.line;
        return { line, problem: `${name} on line ${other} too: keep one of the two` };
      });
    },
  );
}

function setBy(action: Action): string {
  return action === 'due' ? 'due_at' : 'paid_at';
}
