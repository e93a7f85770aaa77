// The options for a file as a whole, and the spelling that follows from the file itself. Pure.

import { MONEY, type MoneyFormat } from '../../contract/money.ts';
import { type AmountSpelling, type FileUnit, isDecimal } from './read-amounts.ts';
import { type DateSpelling, guessSpelling, spellingOf } from './spelling.ts';
import type { Condition } from './table-columns.ts';
import type { TableLine } from './table-file.ts';

export interface FileOptions {
  /** The user's own name of a column, by the known one. */
  readonly renamed: ReadonlyMap<string, string>;
  /** For dates and times that name none. */
  readonly timeZone: string | null;
  /** A BCP 47 tag. */
  readonly locale: string | null;
  /** The unit of the file's amounts. */
  readonly unit: FileUnit | null;
  /** With the API's unit of amounts. */
  readonly money: MoneyFormat;
  /** Which rows are read; empty: all. */
  readonly only: readonly Condition[];
}

/** No option is given. */
export const PLAIN_FILE: FileOptions = {
  renamed: new Map(),
  timeZone: null,
  locale: null,
  unit: null,
  money: MONEY.minor,
  only: [],
};

/** How the file spells dates and amounts. */
export interface FileSpelling {
  readonly dates: DateSpelling;
  readonly amounts: AmountSpelling;
}

/**
 * Returns the spelling of the file: that of the user's locale, else as far as its cells leave no doubt.
 */
export function findSpelling(
  lines: readonly TableLine[],
  columns: { readonly dates: readonly string[]; readonly amounts: readonly string[] },
  { timeZone, locale, unit, money }: FileOptions,
): FileSpelling {
  const textsOf = (names: readonly string[], isWanted = (_line: TableLine, _name: string) => true) =>
    lines.flatMap((line) =>
      names.flatMap((name) => (isWanted(line, name) ? (line.cells.get(name) ?? []) : [])),
    );
  const { dayOrder, decimal } =
    locale === null
      ? guessSpelling(
          textsOf(columns.dates),
          textsOf(columns.amounts, ({ numbers }, name) => !numbers.has(name)),
        )
      : spellingOf(locale);
  const hasDecimals = lines.some(({ cells, numbers }) =>
    columns.amounts.some((name) => isDecimal(cells.get(name) ?? '', numbers.has(name), decimal)),
  );
  return {
    dates: { dayOrder, timeZone },
    amounts: { unit, decimal, hasDecimals, money },
  };
}
