// Checks the spelling of a cron pattern with BullMQ's own parser, so that a wrong configuration is refused before
// anything starts. The parser does not say which field it refuses, and makes up fields that are missing.

import { CronExpressionParser } from 'cron-parser';

/** From the right: seconds may be missing. */
const FIELDS = ['day of the week', 'month', 'day of the month', 'hour', 'minute', 'second'];

/**
 * The parser takes H for a random value, another one each time, drops the end of 1-2-3, and writes the whole range in
 * place of a *: 5* becomes 50-59.
 */
const MISREAD = /\bH\b|-[^,]*-|[^,]\*|[*?][^/,]/i;

/** Returns what is wrong with the pattern, worded to follow its variable's name; null where nothing is. */
export function findCronProblem(pattern: string): string | null {
  const fields = pattern.trim().split(/\s+/);
  if (fields.length < 5 || fields.length > 6) {
    return 'must have five fields (minute hour day month weekday), such as 0 2 * * *, or a second first';
  }
  const index = fields.findLastIndex((field, place) => !isKnown(field, fields.length, place));
  if (index === -1) return canBeParsed(fields.join(' ')) ? null : `is never due: ${pattern}`;
  const name = FIELDS[fields.length - 1 - index];
  return `has a value for the ${name} that cron does not know: ${fields[index]}`;
}

function isKnown(field: string, length: number, place: number): boolean {
  if (MISREAD.test(field)) return false;
  return canBeParsed(Array.from({ length }, (_, at) => (at === place ? field : '*')).join(' '));
}

function canBeParsed(pattern: string): boolean {
  try {
    CronExpressionParser.parse(pattern);
    return true;
  } catch {
    return false;
  }
}
