// Makes a JSON value of any depth one that can be written and stored. Knows no record.

import { isExactNumber } from '../contract/exact-number.ts';
import { MOST_LEVELS } from './unstorable.ts';

/** What stands where something was left out. */
export const LEFT_OUT = `[left out by affiliate-mirror: more than ${MOST_LEVELS} levels deep]`;

/** Returns the value with everything that lies too deep replaced by a text that says so. */
export function cutDeep(value: unknown, levels = MOST_LEVELS): unknown {
  if (value === null || typeof value !== 'object' || isExactNumber(value)) return value;
  if (levels === 0) return LEFT_OUT;
  if (Array.isArray(value)) return value.map((item) => cutDeep(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutDeep(inner, levels - 1)]));
}
