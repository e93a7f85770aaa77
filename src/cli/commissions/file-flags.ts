// What a user may say at the command line about a file as a whole.

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { FileOptions } from '../../commissions/files/file-options.ts';
import type { Problem } from '../../commissions/files/raw-table.ts';
import { FILE_UNITS, type FileUnit } from '../../commissions/files/read-amounts.ts';
import { isLocale } from '../../commissions/files/spelling.ts';
import type { Condition } from '../../commissions/files/table-columns.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { isTimeZone } from '../../config/time-zone.ts';

export interface FileFlags {
  readonly map?: ReadonlyMap<string, string>;
  readonly timezone?: string;
  readonly locale?: string;
  readonly unit?: FileUnit;
  readonly only?: readonly Condition[];
}

/** By what commander calls them. */
export const FILE_FLAGS: readonly (keyof FileFlags)[] = ['map', 'timezone', 'locale', 'unit', 'only'];

/** What the flags do, for --help. */
export const FILE_HELP = `
--map says what your file calls a column. --only Status=Completed reads the rows that say so alone. A date alone is its
midnight in --timezone. What could mean two things (01/10/2026, 4.990) is refused, unless the rest of the file or
--locale leaves no doubt. Amounts are whole numbers in minor units (4990 is 49.90 EUR), or decimals with all of the
currency's digits; --unit major reads 49.9 and 49 as 49.90 and 49.00.
`;

/** Adds the flags. */
export function addFileFlags(command: Command, columns: readonly string[]): Command {
  return command
    .option('--map <column=name>', 'what your file calls a column; once for each', makeMapReader(columns))
    .option('--timezone <zone>', 'of dates and times that name none', parseTimeZone)
    .option('--locale <locale>', 'how dates and numbers are spelled: de, en-US …', parseLocale)
    .option('--only <column=value>', 'read only the rows that say so; once for each value', readCondition)
    .addOption(new Option('--unit <unit>', 'of the amounts in the file').choices(FILE_UNITS));
}

/** Returns what the flags say of the file. */
export function fileOptions(flags: FileFlags, programUnit: AmountUnit): FileOptions {
  return {
    renamed: flags.map ?? new Map(),
    timeZone: flags.timezone ?? null,
    locale: flags.locale ?? null,
    unit: flags.unit ?? null,
    programUnit,
    only: flags.only ?? [],
  };
}

/** Returns the problem with its line in words. */
export function describeProblem({ line, problem }: Problem): string {
  return line === null ? problem : `line ${line}: ${problem}`;
}

function makeMapReader(columns: readonly string[]) {
  return (text: string, before: ReadonlyMap<string, string> = new Map()) => {
    const [, column = '', name = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (!columns.includes(column.trim())) {
      throw new InvalidArgumentError(
        `It must be COLUMN="name in your file", where COLUMN is one of ${columns.join(', ')}.`,
      );
    }
    return new Map([...before, [column.trim(), name.trim()]]);
  };
}

function readCondition(text: string, before: readonly Condition[] = []): readonly Condition[] {
  const [, column, value] = /^([^=]*\S[^=]*)=(.*\S.*)$/s.exec(text) ?? [];
  if (column === undefined || value === undefined) {
    throw new InvalidArgumentError('It must be COLUMN=VALUE as in your file, such as Status=Completed.');
  }
  return [...before, { column: column.trim(), value: value.trim() }];
}

function parseTimeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('It must be the name of a time zone, such as Europe/Berlin.');
}

function parseLocale(text: string): string {
  if (isLocale(text)) return text;
  throw new InvalidArgumentError('It must be a language, or one with its country, such as de or en-US.');
}
