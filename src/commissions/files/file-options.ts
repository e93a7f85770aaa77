// What a user may say about a file as a whole, and what of it the file then says itself. Pure.

import type { AmountUnit } from '../../config/amount-unit.ts';
import { type AmountSpelling, type FileUnit, isDecimal } from './read-amounts.ts';
import { type DateSpelling, guessSpelling, spellingOf } from './spelling.ts';
import type { Condition } from './table-columns.ts';
import type { TableLine } from './table-file.ts';

export interface FileOptions {
  /** The user's own name of a column, by the known one. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Of dates and times that name none. */
  readonly timeZone: string | null;
  /** A BCP 47 tag. */
  readonly locale: string | null;
  /** Of the amounts in the file. */
  readonly unit: FileUnit | null;
  /** How the program counts. */
  readonly programUnit: AmountUnit;
  /** Which rows are read; empty: all. */
  readonly only: readonly Condition[];
}

/** Nothing is said about the file. */
export const PLAIN_FILE: FileOptions = {
  renamed: new Map(),
  timeZone: null,
  locale: null,
  unit: null,
  programUnit: 'minor',
  only: [],
};

/** How the file spells what its cells hold. */
export interface FileSpelling {
  readonly dates: DateSpelling;
  readonly amounts: AmountSpelling;
}

/**
 * Returns how the file spells: as its locale does where the user names one, else as far as its cells leave no doubt.
 */
export function findSpelling(
  lines: readonly TableLine[],
  columns: { readonly dates: readonly string[]; readonly amounts: readonly string[] },
  { timeZone, locale, unit, programUnit }: FileOptions,
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
    amounts: { unit, decimal, hasDecimals, programUnit },
  };
}
