// The user's file: its bytes, and the flags that describe it.

import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { errorCode } from '../../base/describe-error.ts';
import { ConfigError } from '../../base/errors.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import { isTimeZone } from '../../contract/time-zone.ts';
import type { FileOptions } from '../../payments/files/file-options.ts';
import { FILE_UNITS, type FileUnit } from '../../payments/files/read-amounts.ts';
import { isLocale } from '../../payments/files/spelling.ts';
import type { Condition } from '../../payments/files/table-columns.ts';

export interface FileFlags {
  readonly map?: ReadonlyMap<string, string>;
  readonly timezone?: string;
  readonly locale?: string;
  readonly unit?: FileUnit;
  readonly only?: readonly Condition[];
}

/** As commander names them. */
export const FILE_FLAGS: readonly (keyof FileFlags)[] = ['map', 'timezone', 'locale', 'unit', 'only'];

export const FILE_HELP = `
--map names a column of your file. --only Status=Completed reads only the rows with that value. A date alone is its
midnight in --timezone. A value with two readings (01/10/2026, 4.990) is refused, unless the rest of the file or --locale
decides it. Amounts are whole numbers in minor units (4990 is 49.90 EUR), or decimals with all of the
currency's digits; --unit major reads 49.9 and 49 as 49.90 and 49.00.
`;

/** Adds the flags. */
export function addFileFlags(command: Command, columns: readonly string[]): Command {
  return command
    .option('--map <column=name>', 'the name of a column in your file; once for each', makeMapReader(columns))
    .option('--timezone <zone>', 'of dates and times that name none, and of those printed', parseTimeZone)
    .option('--locale <locale>', 'how dates and numbers are spelled: de, en-US …', parseLocale)
    .option('--only <column=value>', 'read only the rows with it; once for each value', readCondition)
    .addOption(new Option('--unit <unit>', 'of the amounts in the file').choices(FILE_UNITS));
}

export function fileOptions(flags: FileFlags, money: MoneyFormat): FileOptions {
  return {
    renamed: flags.map ?? new Map(),
    timeZone: flags.timezone ?? null,
    locale: flags.locale ?? null,
    unit: flags.unit ?? null,
    money,
    only: flags.only ?? [],
  };
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

/** Throws: InvalidArgumentError. */
export function parseTimeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('It must be the name of a time zone, such as Europe/Berlin.');
}

function parseLocale(text: string): string {
  if (isLocale(text)) return text;
  throw new InvalidArgumentError('It must be a language, or one with its country, such as de or en-US.');
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'this user may not read it',
};

/**
 * Returns the bytes of the file, or of standard input for `-`.
 *
 * Throws: ConfigError if it cannot be read; the signal's reason when aborted during the wait for standard input.
 */
export async function readInput(path: string, signal: AbortSignal): Promise<Uint8Array> {
  if (path === '-') {
    return await buffer(addAbortSignal(signal, process.stdin)).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
  }
  try {
    return await readFile(path);
  } catch (error) {
    const code = errorCode(error);
    throw new ConfigError([`cannot read ${path}: ${UNREADABLE[code] ?? (code || 'unreadable')}`]);
  }
}
