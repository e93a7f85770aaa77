// How a file spells dates and numbers, by a locale or by the file itself. Pure.

import { type DecimalMark, readDecimal } from './decimals.ts';

export type DayOrder = 'day-first' | 'month-first';

/** Null is unknown: then a date that could mean two days is refused. */
export interface DateSpelling {
  /** For dates with slashes; in dates with dots the day is always first. */
  readonly dayOrder: DayOrder | null;
  /** For dates and times that name none. */
  readonly timeZone: string | null;
}

export interface Spelling {
  readonly dayOrder: DayOrder | null;
  readonly decimal: DecimalMark | null;
}

/** Returns whether dates and numbers of the locale (a BCP 47 tag such as de or en-GB) are known. */
export function isLocale(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

/**
 * Returns how the locale spells. English alone does not say whether the day or the month comes first, and a locale that
 * begins with the year does not either.
 */
export function spellingOf(tag: string): Spelling {
  const options = { calendar: 'gregory', numberingSystem: 'latn' } as const;
  const mark = new Intl.NumberFormat(tag, options)
    .formatToParts(1.5)
    .find(({ type }) => type === 'decimal')?.value;
  const order = new Intl.DateTimeFormat(tag, options)
    .formatToParts(0)
    .flatMap(({ type }) => (['day', 'month', 'year'].includes(type) ? type : []));
  const { language, region } = new Intl.Locale(tag);
  const isOpen = order[0] === 'year' || (language === 'en' && region === undefined);
  return {
    dayOrder: isOpen ? null : order[0] === 'day' ? 'day-first' : 'month-first',
    decimal: mark === ',' || mark === '.' ? mark : null,
  };
}

/** Returns the spelling that all of the cells together leave no doubt about. */
export function guessSpelling(dates: readonly string[], amounts: readonly string[]): Spelling {
  return { dayOrder: onlyOne(dates.map(orderOf)), decimal: onlyOne(amounts.map(markOf)) };
}

function onlyOne<T>(found: readonly (T | null)[]): T | null {
  const [first = null, second] = new Set(found.filter((one) => one !== null));
  return second === undefined ? first : null;
}

function orderOf(text: string): DayOrder | null {
  const [, first, second] = /^(\d{1,2})\/(\d{1,2})\/\d{4}(?!\d)/.exec(text) ?? [];
  const [isDay, isMonth] = [Number(first) > 12, Number(second) > 12];
  if (first === undefined || isDay === isMonth) return null;
  return isDay ? 'day-first' : 'month-first';
}

function markOf(text: string): DecimalMark | null {
  const [comma, point] = [readDecimal(text, ','), readDecimal(text, '.')];
  if ((comma === null) === (point === null)) return null;
  return comma === null ? '.' : ',';
}
