// What a user may say at the command line about a file as a whole.

import { basename } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { FileOptions } from '../../commissions/files/file-options.ts';
import type { Problem } from '../../commissions/files/raw-table.ts';
import { FILE_UNITS, type FileUnit } from '../../commissions/files/read-amounts.ts';
import { isLocale } from '../../commissions/files/spelling.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { isTimeZone } from '../../config/time-zone.ts';
import { printError } from '../output/print.ts';

export interface FileFlags {
  readonly map?: ReadonlyMap<string, string>;
  readonly timezone?: string;
  readonly locale?: string;
  readonly unit?: FileUnit;
}

/** By what commander calls them. */
export const FILE_FLAGS: readonly (keyof FileFlags)[] = ['map', 'timezone', 'locale', 'unit'];

/** What the flags do, for --help. */
export const FILE_HELP = `
A workbook's first visible sheet is read, also rows that a filter hides there.
Other visible sheets, and columns with other names, are not read, and are
named; --map says which column is which. A date alone is its midnight in
--timezone; so are times without a zone, such as Excel's. 01.10.2026 and 4,90
are read as they are; what could mean two things (01/10/2026, 4.990) is refused,
unless the rest of the file or --locale leaves no doubt.
Amounts are whole numbers in minor units (4990 is 49.90 EUR), or decimals with
all of the currency's digits. --unit major reads 49.9 and 49 as 49.90 and 49.00.`;

/** Adds --map, --timezone, --locale and --unit. */
export function addFileFlags(command: Command, columns: readonly string[]): Command {
  return command
    .option('--map <column=name>', 'what your file calls a column; once for each', makeMapReader(columns))
    .option('--timezone <zone>', 'of dates and times that name none', parseTimeZone)
    .option('--locale <locale>', 'how dates and numbers are spelled: de, en-US …', parseLocale)
    .addOption(new Option('--unit <unit>', 'of the amounts in the file').choices(FILE_UNITS));
}

/** Returns what the flags say of the file at the path; `-` has no name. */
export function fileOptions(path: string, flags: FileFlags, programUnit: AmountUnit): FileOptions {
  return {
    name: path === '-' ? null : basename(path),
    renamed: flags.map ?? new Map(),
    timeZone: flags.timezone ?? null,
    locale: flags.locale ?? null,
    unit: flags.unit ?? null,
    programUnit,
  };
}

/** Says which sheets and columns of the file are not read, where there are any. */
export function nameUnread({
  unreadSheets,
  ignored,
}: {
  readonly unreadSheets: readonly string[];
  readonly ignored: readonly string[];
}): void {
  for (const [kind, names] of [
    ['sheet', unreadSheets],
    ['column', ignored],
  ] as const) {
    if (names.length === 0) continue;
    const words = names.map((name) => JSON.stringify(name)).join(', ');
    printError(`not read: the ${kind}${names.length === 1 ? '' : 's'} ${words}`);
  }
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

function parseTimeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('It must be the name of a time zone, such as Europe/Berlin.');
}

function parseLocale(text: string): string {
  if (isLocale(text)) return text;
  throw new InvalidArgumentError('It must be a language, or one with its country, such as de or en-US.');
}
