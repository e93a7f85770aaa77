// The file to hand back after `commissions apply`: the user's own rows and columns, and beside them what became of
// each.

import { stat } from 'node:fs/promises';
import type { BatchFile } from '../../commissions/files/batch-file.ts';
import type { RawCell } from '../../commissions/files/raw-table.ts';
import { isResultColumn, LEFT_OUT, RESULT_AMOUNT } from '../../commissions/files/result-columns.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { fractionDigits, spellDecimal } from '../../contract/money.ts';
import { ConfigError } from '../../errors.ts';
import { LARGEST_NUMBER } from '../../exports/formats/workbook-text.ts';
import type { Lifetime } from '../lifetime.ts';
import {
  type CsvForm,
  formatOf,
  type WrittenFormat,
  type WrittenTable,
  writeCsv,
  writeWorkbook,
} from '../output/table-writer.ts';
import { openWholeFile } from '../output/whole-file.ts';
import type { RowOutcome } from './asked.ts';

/**
 * Returns what writes the result, whole or not at all. Called before anything is queued, so that a path at which
 * nothing can be written costs no payment its answer.
 *
 * Throws: ConfigError where the path does not end in .csv or .xlsx, is the payout file itself, or cannot be written.
 */
export async function openResultFile(
  path: string,
  input: string,
  lifetime: Lifetime,
): Promise<(batch: BatchFile, outcomes: readonly RowOutcome[], unit: AmountUnit) => Promise<void>> {
  const format = formatOf(path);
  if (input !== '-' && (await isSameFile(path, input))) {
    throw new ConfigError([`--result ${path} is the payout file itself: give it another name`]);
  }
  const file = await openWholeFile(path, lifetime, {
    mayReplace: true,
    ...(input !== '-' && { like: input }),
  });
  return async (batch, outcomes, unit) => {
    const table = makeResult(batch, outcomes, unit, format);
    await file.write(
      format === 'csv'
        ? writeCsv(table, csvFormOf(batch))
        : await writeWorkbook(table, new Map([[RESULT_AMOUNT, table.amountFormat]])),
    );
  };
}

async function isSameFile(path: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([path, other].map((one) => stat(one).catch(() => null)));
  return a != null && b != null && a.ino === b.ino && a.dev === b.dev;
}

// Separated as the payout file was: so it opens where that one did.
function csvFormOf({ table: { form }, spelling }: BatchFile): CsvForm {
  const decimal = spelling.amounts.decimal ?? '.';
  const delimiter = form.kind === 'csv' ? form.delimiter : decimal === ',' ? ';' : ',';
  return { delimiter, hasMark: true, decimal };
}

/** Returns the table. Its amounts are in the unit of the file's own: major units beside decimals. */
function makeResult(
  batch: BatchFile,
  outcomes: readonly RowOutcome[],
  programUnit: AmountUnit,
  format: WrittenFormat,
): WrittenTable & { readonly amountFormat: string } {
  const { table, problems, spelling } = batch;
  const { unit, hasDecimals } = spelling.amounts;
  const isMajor = unit === 'major' || (unit === null && hasDecimals);
  // A result that is applied again carries those of the last time: they are written anew.
  const kept = [...table.header.keys()].filter((index) => !isResultColumn(table.header[index] ?? ''));
  const byLine = new Map(outcomes.map((outcome) => [outcome.line, outcome]));
  const problemsByLine = Map.groupBy(problems, ({ line }) => line);
  const digitsOf = (currency: string | null) =>
    currency === null ? 0 : fractionDigits(currency, programUnit);
  // With all of its digits where it is text, and a number that Excel can add up where it can be one.
  const inMajor = (amount: number, digits: number) =>
    format === 'csv' || Math.abs(amount) > LARGEST_NUMBER
      ? spellDecimal(amount, digits, spelling.amounts.decimal ?? '.')
      : Number(spellDecimal(amount, digits));
  const inOrder = [...table.rows, ...table.leftOut].toSorted((a, b) => a.line - b.line);
  const rows = inOrder.map(({ line, cells }): RawCell[] => {
    const own = kept.map((index) => cells[index] ?? null);
    const outcome = byLine.get(line);
    if (outcome === undefined) {
      const wrong = problemsByLine.get(line) ?? [{ problem: 'left out by --only' }];
      return [...own, LEFT_OUT, wrong.map(({ problem }) => problem).join('; '), null, null, null];
    }
    const { state, paid_at, amount, currency } = outcome;
    const shown = amount === null || !isMajor ? amount : inMajor(amount, digitsOf(currency));
    return [...own, state, outcome.outcome, paid_at, shown, currency?.toUpperCase() ?? null];
  });
  const digits = outcomes.reduce((most, { currency }) => Math.max(most, digitsOf(currency)), 0);
  return {
    header: [
      ...kept.map((index) => table.header[index] ?? ''),
      'result_state',
      'result_outcome',
      'result_paid_at',
      isMajor ? RESULT_AMOUNT : `${RESULT_AMOUNT}_${programUnit}`,
      'result_currency',
    ],
    rows,
    amountFormat: digits === 0 ? '#,##0' : `#,##0.${'0'.repeat(digits)}`,
  };
}
