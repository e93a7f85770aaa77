// The payout file that the commands write, for finance to fill in and for `commissions apply` to read.

import { type Command, Option } from 'commander';
import { BATCH_COLUMNS } from '../../commissions/files/batch-file.ts';
import { ConfigError } from '../../errors.ts';
import type { Lifetime } from '../lifetime.ts';
import {
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

/** A payout file without rows. */
export const EMPTY_PAYOUTS: WrittenTable = { header: BATCH_COLUMNS, rows: [] };

/** Adds --format and --output. */
export function addPayoutFileFlags(command: Command, says: { format: string; output: string }): Command {
  return command
    .addOption(new Option('--format <format>', says.format).choices(WRITTEN_FORMATS))
    .option('-o, --output <path>', says.output);
}

/**
 * Returns what writes the file, to stdout or whole under its name. Called first, so that nothing is done for a file
 * that cannot be written. CSV begins with a byte order mark where a spreadsheet opens it (`hasMark`): what goes to
 * stdout is usually for a program.
 *
 * Throws: ConfigError.
 */
export async function openPayoutFile(
  { format: asked, output }: PayoutFileFlags,
  lifetime: Lifetime,
  hasMark = output !== undefined,
): Promise<(table: WrittenTable) => Promise<void>> {
  const format = asked ?? (output === undefined ? 'csv' : formatOf(output));
  if (format === 'xlsx' && output === undefined && process.stdout.isTTY === true) {
    throw new ConfigError(['a workbook is nothing for a terminal: give it a file with -o payouts.xlsx']);
  }
  const file = output === undefined ? null : await openWholeFile(output, lifetime, { mayReplace: false });
  return async (table) => {
    const bytes =
      format === 'csv'
        ? writeCsv(table, { delimiter: ',', hasMark, decimal: '.' })
        : await writeWorkbook(table);
    if (file === null) process.stdout.write(bytes);
    else await file.write(bytes);
  };
}
