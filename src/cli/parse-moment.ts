// Reads the moments that a user gives at the command line.

import { InvalidArgumentError } from 'commander';
import type { DateSpelling } from '../commissions/files/spelling.ts';
import { readTimestamp } from '../commissions/timestamps.ts';
import type { Timestamp } from '../contract/timestamp.ts';

/** Returns the moment, which names its zone. Throws: InvalidArgumentError. */
export function parseMoment(text: string): Timestamp {
  return parse(text, null);
}

/** Returns the moment; a date alone is its midnight in UTC. Throws: InvalidArgumentError. */
export function parseDate(text: string): Timestamp {
  return parse(text, { dayOrder: null, timeZone: 'UTC', takesLocale: false });
}

function parse(text: string, spelling: DateSpelling | null): Timestamp {
  const read = readTimestamp(text.trim(), spelling);
  if ('timestamp' in read) return read.timestamp;
  throw new InvalidArgumentError(`${read.problem}.`);
}
