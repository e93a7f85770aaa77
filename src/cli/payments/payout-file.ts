// The payout file that the commands write, for finance to fill in and for `commissions apply` to read.

import { type Command, Option } from 'commander';
import { ConfigError } from '../../base/errors.ts';
import { type MoneyFormat, spellDecimal } from '../../contract/money.ts';
import { cellOfAmount } from '../../exports/formats/workbook-text.ts';
import { BATCH_COLUMNS, MAJOR_AMOUNT } from '../../payments/files/batch-file.ts';
import type { RawCell } from '../../payments/files/raw-table.ts';
import type { Lifetime } from '../lifetime.ts';
import {
  amountFormat,
  formatOf,
  WRITTEN_FORMATS,
  type WrittenFormat,
  type WrittenTable,
  writeCsv,
  writeWorkbook,
} from '../output/table-writer.ts';
import { openWholeFile } from '../output/whole-file.ts';

export interface PayoutFileFlags {
  readonly format?: WrittenFormat;
  readonly output?: string;
}

/** Returns the columns of a payout file. In a workbook its amounts are numbers, and so in the currency's own unit. */
export function payoutColumns(
  format: WrittenFormat,
  columns: readonly string[] = BATCH_COLUMNS,
): readonly string[] {
  return columns.filter((name) => name !== (format === 'xlsx' ? 'expected_amount' : MAJOR_AMOUNT));
}

/**
 * Returns a payout file with a row for each item: the cells of `cellsOf`, by column, and its amount and currency as
 * expectations. `payees`: the columns before those that are read.
 */
export function makePayoutTable<Item extends Expected>(
  items: readonly Item[],
  { payees, columns, money, cellsOf }: PayoutTableOptions<Item>,
): WrittenTable {
  const header = [...payees, ...columns];
  const rows = items.map((item) => {
    const { amount, currency } = item;
    const digits = money.digitsOf(currency);
    const cells: Readonly<Record<string, RawCell>> = {
      ...cellsOf(item),
      // Text with all of its digits: in CSV a number 84 could be cents.
      expected_amount: spellDecimal(amount, digits),
      [MAJOR_AMOUNT]: cellOfAmount(amount, digits),
      expected_currency: currency,
    };
    return header.map((name) => cells[name] ?? null);
  });
  const digits = items.map(({ currency }) => money.digitsOf(currency));
  return { header, rows, formats: new Map([[MAJOR_AMOUNT, amountFormat(Math.max(0, ...digits))]]) };
}

interface Expected {
  /** In the API's unit. */
  readonly amount: number;
  readonly currency: string;
}

interface PayoutTableOptions<Item> {
  readonly payees: readonly string[];
  readonly columns: readonly string[];
  readonly money: MoneyFormat;
  readonly cellsOf: (item: Item) => Readonly<Record<string, RawCell>>;
}

/** Adds --format and --output. */
export function addPayoutFileFlags(command: Command, says: { format: string; output: string }): Command {
  return command
    .addOption(new Option('--format <format>', says.format).choices(WRITTEN_FORMATS))
    .option('-o, --output <path>', says.output);
}

/**
 * Returns the function that writes the file, to stdout or whole under its name. Called first, so that nothing is done
 * for a file that cannot be written. `hasMark`: CSV begins with a byte order mark, for spreadsheets.
 *
 * Throws: ConfigError.
 */
export async function openPayoutFile(
  { format: asked, output }: PayoutFileFlags,
  lifetime: Lifetime,
  hasMark = output !== undefined,
): Promise<(makeTable: (format: WrittenFormat) => WrittenTable) => Promise<void>> {
  const format = asked ?? (output === undefined ? 'csv' : formatOf(output));
  if (format === 'xlsx' && output === undefined && process.stdout.isTTY === true) {
    throw new ConfigError(['a terminal cannot show a workbook: give it a file with -o payouts.xlsx']);
  }
  const file = output === undefined ? null : await openWholeFile(output, lifetime, { mayReplace: false });
  return async (makeTable) => {
    const table = makeTable(format);
    const bytes =
      format === 'csv'
        ? writeCsv(table, { delimiter: ',', hasMark, decimal: '.' })
        : await writeWorkbook(table);
    if (file === null) process.stdout.write(bytes);
    else await file.write(bytes);
  };
}
