// Checks the spelling of a cron pattern with BullMQ's own parser, so that a wrong configuration is refused before
// anything starts. The parser makes up fields that are missing.

import { CronExpressionParser } from 'cron-parser';

/**
 * The parser takes H for a random value, another one each time, drops the end of 1-2-3, and writes the whole range in
 * place of a *: 5* becomes 50-59.
 */
const MISREAD = /\bH\b|-[^,]*-|[^,]\*|[*?][^/,]/i;

/** Returns what is wrong with the pattern, worded to follow its variable's name; null where nothing is. */
export function findCronProblem(pattern: string): string | null {
  const fields = pattern.trim().split(/\s+/);
  const isKnown = fields.length >= 5 && fields.length <= 6 && !fields.some((field) => MISREAD.test(field));
  if (isKnown && canBeParsed(fields.join(' '))) return null;
  return `must be due at some time, and have five fields (minute hour day month weekday), such as 0 2 * * *, or a second first: ${pattern}`;
}

function canBeParsed(pattern: string): boolean {
  try {
    CronExpressionParser.parse(pattern);
    return true;
  } catch {
    return false;
  }
}
