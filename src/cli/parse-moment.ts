// Parsers of moments and durations in arguments and options.

import { InvalidArgumentError } from 'commander';
import { displayZone } from '../contract/time-zone.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { readTimestamp } from '../payments/timestamps.ts';

/** Returns the moment, which names its zone. Throws: InvalidArgumentError. */
export function parseMoment(text: string): Timestamp {
  return read(text, null);
}

/** Returns the text of a moment or a date, for `momentOf`. Throws: InvalidArgumentError. */
export function parseDate(text: string): string {
  momentOf(text);
  return text;
}

/**
 * Returns the moment; a date alone is its midnight in the display zone, which is known once the configuration is read.
 * Throws: InvalidArgumentError.
 */
export function momentOf(text: string): Timestamp {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text.trim());
  return read(text, isDate ? { dayOrder: null, timeZone: displayZone() } : null);
}

function read(text: string, spelling: Parameters<typeof readTimestamp>[1]): Timestamp {
  const found = readTimestamp(text.trim(), spelling);
  if ('timestamp' in found) return found.timestamp;
  throw new InvalidArgumentError(`${found.problem}.`);
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Returns the seconds of a duration such as 90m, 26h or 2d. Throws: InvalidArgumentError. */
export function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text.trim()) ?? [];
  const seconds = Number(number) * (SECONDS[unit as keyof typeof SECONDS] ?? 0);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be a number above 0 with its unit, such as 90m, 26h or 2d.');
}
