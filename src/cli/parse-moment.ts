// Reads the moments and durations that a user gives at the command line.

import { InvalidArgumentError } from 'commander';
import { readTimestamp } from '../commissions/timestamps.ts';
import type { Timestamp } from '../contract/timestamp.ts';

/** Returns the moment, which names its zone. Throws: InvalidArgumentError. */
export function parseMoment(text: string): Timestamp {
  const read = readTimestamp(text.trim());
  if ('timestamp' in read) return read.timestamp;
  throw new InvalidArgumentError(`${read.problem}.`);
}

/** Returns the moment; a date alone is its midnight in UTC. Throws: InvalidArgumentError. */
export function parseDate(text: string): Timestamp {
  return parseMoment(/^\d{4}-\d{2}-\d{2}$/.test(text.trim()) ? `${text.trim()}T00:00:00Z` : text);
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/**
 * Returns the seconds of a duration such as 90m, 26h or 2d.
 *
 * Throws: commander's InvalidArgumentError where it is none.
 */
export function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text.trim()) ?? [];
  const seconds = Number(number) * (SECONDS[unit as keyof typeof SECONDS] ?? 0);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be a number above 0 with its unit, such as 90m, 26h or 2d.');
}
