// The result of `commissions apply` as a file: the user's own rows and columns, and the outcome of each.

import { stat } from 'node:fs/promises';
import { ConfigError } from '../../base/errors.ts';
import { withLocalTimes } from '../../contract/format.ts';
import { type MoneyFormat, spellDecimal } from '../../contract/money.ts';
import { displayZone } from '../../contract/time-zone.ts';
import { cellOfAmount } from '../../exports/formats/workbook-text.ts';
import type { AskedFile, RowOutcome } from '../../payments/ask/ask-rows.ts';
import { MAJOR_AMOUNT } from '../../payments/files/batch-file.ts';
import type { RawCell } from '../../payments/files/raw-table.ts';
import { isResultColumn, LEFT_OUT, RESULT_AMOUNT } from '../../payments/files/status-column.ts';
import type { Lifetime } from '../lifetime.ts';
import {
  amountFormat,
  type CsvForm,
  formatOf,
  type WrittenFormat,
  type WrittenTable,
  writeCsv,
  writeWorkbook,
} from '../output/table-writer.ts';
import { openWholeFile } from '../output/whole-file.ts';

/**
 * Returns the function that writes the result, whole or not at all. Called before anything is queued, so that a wrong
 * path is refused before the payments.
 *
 * Throws: ConfigError if the path does not end in .csv or .xlsx, is the payout file itself, or cannot be written.
 */
export async function openResultFile(
  path: string,
  input: string,
  lifetime: Lifetime,
): Promise<(batch: AskedFile, outcomes: readonly RowOutcome[], money: MoneyFormat) => Promise<void>> {
  const format = formatOf(path);
  if (input !== '-' && (await isSameFile(path, input))) {
    throw new ConfigError([`--result ${path} is the payout file itself: give it another name`]);
  }
  const file = await openWholeFile(path, lifetime, {
    mayReplace: true,
    ...(input !== '-' && { like: input }),
  });
  return async (batch, outcomes, money) => {
    const table = makeResult(batch, outcomes, money, format);
    await file.write(format === 'csv' ? writeCsv(table, csvFormOf(batch)) : await writeWorkbook(table));
  };
}

async function isSameFile(path: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([path, other].map((one) => stat(one).catch(() => null)));
  return a != null && b != null && a.ino === b.ino && a.dev === b.dev;
}

// With the payout file's separators, so that the same software opens it.
function csvFormOf({ table: { form }, spelling }: AskedFile): CsvForm {
  const decimal = spelling.amounts.decimal ?? '.';
  const delimiter = form.kind === 'csv' ? form.delimiter : decimal === ',' ? ';' : ',';
  return { delimiter, hasMark: true, decimal };
}

/** Returns the table. Its amounts are in the unit of the file's own: major units if those are decimals. */
function makeResult(
  batch: AskedFile,
  outcomes: readonly RowOutcome[],
  money: MoneyFormat,
  format: WrittenFormat,
): WrittenTable {
  const { table, problems, spelling } = batch;
  const { unit, hasDecimals } = spelling.amounts;
  const isMajor = unit === 'major' || (unit === null && hasDecimals);
  // A result that is applied again has these columns already.
  const columns = [...table.header.keys()].filter((index) => !isResultColumn(table.header[index] ?? ''));
  const byLine = new Map(outcomes.map((outcome) => [outcome.line, outcome]));
  const problemsByLine = Map.groupBy(problems, ({ line }) => line);
  const digitsOf = (currency: string | null) => (currency === null ? 0 : money.digitsOf(currency));
  // In CSV text with all of its digits.
  const inMajor = (amount: number, digits: number) =>
    format === 'csv'
      ? spellDecimal(amount, digits, spelling.amounts.decimal ?? '.')
      : cellOfAmount(amount, digits);
  // In UTC the column would repeat the one beside it.
  const localOf = (at: string | null) => (displayZone() === 'UTC' ? [] : [at && withLocalTimes(at)]);
  const inOrder = [...table.rows, ...table.leftOut].toSorted((a, b) => a.line - b.line);
  const rows = inOrder.map(({ line, cells }): RawCell[] => {
    const own = columns.map((index) => cells[index] ?? null);
    const outcome = byLine.get(line);
    if (outcome === undefined) {
      const wrong = problemsByLine.get(line) ?? [{ problem: 'left out by --only' }];
      const why = wrong.map(({ problem }) => problem).join('; ');
      return [...own, LEFT_OUT, why, null, ...localOf(null), null, null];
    }
    const { state, paid_at, amount, currency } = outcome;
    const shown = amount === null || !isMajor ? amount : inMajor(amount, digitsOf(currency));
    const says = withLocalTimes(outcome.outcome);
    return [...own, state, says, paid_at, ...localOf(paid_at), shown, currency?.toUpperCase() ?? null];
  });
  const digits = outcomes.reduce((most, { currency }) => Math.max(most, digitsOf(currency)), 0);
  return {
    header: [
      ...columns.map((index) => table.header[index] ?? ''),
      'result_state',
      'result_outcome',
      'result_paid_at',
      ...(displayZone() === 'UTC' ? [] : ['result_paid_at_local']),
      isMajor ? RESULT_AMOUNT : `${RESULT_AMOUNT}_${money.unit}`,
      'result_currency',
    ],
    rows,
    formats: new Map([RESULT_AMOUNT, MAJOR_AMOUNT].map((name) => [name, amountFormat(digits)])),
  };
}
