// Reads a file of payouts to pay, as `payouts list` writes it: one payout a line.

import { identifier } from '../../contract/fields.ts';
import { type PayoutRequest, payoutKey, plainPayout } from '../payout-request.ts';
import { quote } from '../timestamps.ts';
import { LONGEST_KEY } from '../update-request.ts';
import { type BatchFile, findFileSpelling, MAJOR_AMOUNT, readExpectedAmount } from './batch-file.ts';
import type { FileOptions, FileSpelling } from './file-options.ts';
import { readCurrency, readFlag } from './read-cells.ts';
import { isAddedColumn } from './status-column.ts';
import { readTableFile, type TableLine } from './table-file.ts';

/** The columns, in the order of the documentation. */
export const PAYOUT_COLUMNS = [
  'payout_id',
  'expected_amount',
  MAJOR_AMOUNT,
  'expected_currency',
  'expected_commissions',
  'even_if_refunded',
  'reason',
  'idempotency_key',
] as const;

export interface PayoutRow {
  readonly line: number;
  readonly request: PayoutRequest;
  readonly hasOwnKey: boolean;
}

export interface PayoutBatch extends Omit<BatchFile, 'rows'> {
  readonly rows: readonly PayoutRow[];
}

/** Returns the good rows with all problems of the file, and a key for each row, as `readBatchFile` does. */
export async function readPayoutBatch(
  bytes: Uint8Array,
  options: FileOptions & { readonly evenIfRefunded: boolean; readonly reason: string | null },
): Promise<PayoutBatch> {
  const file = await readTableFile(bytes, {
    known: PAYOUT_COLUMNS,
    required: ['payout_id'],
    renamed: options.renamed,
    guards: PAYOUT_COLUMNS.filter((name) => name.startsWith('expected_')),
    filled: new Map(),
    only: options.only,
    isOurs: (name) => isAddedColumn(name) || name === 'payout_address',
  });
  const spelling = findFileSpelling(file.lines, [], options);
  const problems = [...file.problems];
  const badLines = new Set(problems.flatMap(({ line }) => line ?? []));
  const rows: PayoutRow[] = [];
  for (const line of file.lines) {
    const ofRow: string[] = [];
    const request = readRow(line, spelling, ofRow);
    problems.push(...ofRow.map((problem) => ({ line: line.line, problem })));
    if (request === null || ofRow.length > 0 || badLines.has(line.line)) continue;
    const even_if_refunded = request.even_if_refunded || options.evenIfRefunded;
    const asked = { ...request, even_if_refunded, reason: request.reason ?? options.reason };
    const ownKey = line.cells.get('idempotency_key');
    const idempotency_key = ownKey ?? payoutKey(asked);
    rows.push({ line: line.line, request: { ...asked, idempotency_key }, hasOwnKey: ownKey !== undefined });
  }
  const repeated = new Set<number>();
  for (const [id, [first, second, ...more]] of Map.groupBy(rows, ({ request }) => request.payout_id)) {
    if (first === undefined || second === undefined) continue;
    for (const { line } of [first, second, ...more]) {
      const other = line === first.line ? second.line : first.line;
      repeated.add(line);
      problems.push({ line, problem: `the payout ${id} is on line ${other} too: keep one of the two` });
    }
  }
  if (file.lines.length === 0 && problems.length === 0) {
    problems.push({ line: null, problem: 'the file holds no rows' });
  }
  return {
    table: file,
    spelling,
    rows: rows.filter(({ line }) => !repeated.has(line)),
    problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    rowCount: new Set([...file.lines.map(({ line }) => line), ...badLines]).size,
  };
}

function readRow(line: TableLine, spelling: FileSpelling, problems: string[]): PayoutRequest | null {
  const { cells } = line;
  const id = cells.get('payout_id');
  const isId = identifier.safeParse(id).success;
  if (!isId) problems.push(id === undefined ? 'payout_id is blank' : `payout_id ${quote(id)} is not a UUID`);
  const expected_currency = readCurrency('expected_currency', cells.get('expected_currency'), problems);
  const expected_amount = readExpectedAmount(line, expected_currency, spelling.amounts, problems);
  const number = cells.get('expected_commissions');
  if (number !== undefined && !/^\d{1,9}$/.test(number)) {
    problems.push(`expected_commissions ${quote(number)} is not a whole number`);
  }
  const even_if_refunded = readFlag('even_if_refunded', cells.get('even_if_refunded'), problems);
  if ([...(cells.get('idempotency_key') ?? '')].length > LONGEST_KEY) {
    problems.push(`idempotency_key is too long: shorten it to ${LONGEST_KEY} characters or fewer`);
  }
  for (const [name, value] of cells) {
    if (!value.isWellFormed() || value.includes('\0')) {
      problems.push(`${name} holds a character that cannot be stored`);
    }
  }
  if (id === undefined || problems.length > 0) return null;
  return plainPayout({
    payout_id: id.toLowerCase(),
    expected_amount,
    expected_currency,
    expected_commissions: number === undefined ? null : Number(number),
    even_if_refunded,
    reason: cells.get('reason') ?? null,
  });
}
