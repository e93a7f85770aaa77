// Cuts a JSON value of any depth so that it can be written and stored.

import { isExactNumber } from '../contract/exact-number.ts';
import { MOST_LEVELS } from './unstorable.ts';

/** The text in place of what was left out. */
export const LEFT_OUT = `[left out by affiliate-mirror: more than ${MOST_LEVELS} levels deep]`;

/** Returns the value with everything that is nested too deeply replaced by a text that says so. */
export function cutDeep(value: unknown, levels = MOST_LEVELS): unknown {
  if (value === null || typeof value !== 'object' || isExactNumber(value)) return value;
  if (levels === 0) return LEFT_OUT;
  if (Array.isArray(value)) return value.map((item) => cutDeep(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutDeep(inner, levels - 1)]));
}
