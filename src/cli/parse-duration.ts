// Durations as users write them for an option: 90m, 26h, 2d.

import { InvalidArgumentError } from 'commander';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/**
 * Returns the duration in seconds.
 *
 * Throws: commander's InvalidArgumentError where it is none.
 */
export function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text.trim()) ?? [];
  const seconds = Number(number) * (SECONDS[unit as keyof typeof SECONDS] ?? 0);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be a number above 0 with its unit, such as 90m, 26h or 2d.');
}
