// Finds values that Postgres cannot hold in text or jsonb, or that no reader could read again: the NUL character, half
// of a surrogate pair, a number that is too long or too large, too many levels. Cuts off levels that are too deep.

import { type ExactNumber, isExactNumber } from '../contract/exact-number.ts';

/**
 * The most levels of a field that the contract does not know. Readers of JSON are recursive, and run out of stack at
 * some thousands of levels (Postgres at 6,000 as it is shipped, Node's JSON.stringify at 8,000, others at 1,000); no
 * API nests a hundred on purpose.
 */
export const MOST_LEVELS = 100;

/** In characters. Longer numbers are no data; Postgres' numeric ends at 16,383 digits after the point. */
const LONGEST_NUMBER = 1000;

/**
 * Returns why a JSON value cannot be stored, to be read after the path of its field; null if it can be. Names of fields
 * within it count too.
 */
export function findUnstorable(value: unknown, levels = MOST_LEVELS): string | null {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0') ? null : BAD_TEXT;
  if (typeof value === 'number') return Number.isFinite(value) ? null : BAD_NUMBER;
  if (value === null || typeof value !== 'object') return null;
  if (isExactNumber(value)) return isStorableNumber(value) ? null : BAD_NUMBER;
  if (levels === 0) return TOO_DEEP;
  // No Object.entries: it would make a pair of every field of every record.
  for (const key in value) {
    const problem = findUnstorable(key) ?? findUnstorable(value[key as keyof typeof value], levels - 1);
    if (problem !== null) return problem;
  }
  return null;
}

const BAD_TEXT = 'expected text that Postgres can store, got a NUL character or half of a surrogate pair';
const BAD_NUMBER = `expected a number of at most ${LONGEST_NUMBER} characters and between 1e-308 and 1e308`;
const TOO_DEEP = `expected at most ${MOST_LEVELS} levels of nested values, got more`;

function isStorableNumber({ rawJSON }: ExactNumber): boolean {
  const near = rawJSON.length > LONGEST_NUMBER ? 0 : Number(rawJSON);
  return near !== 0 && Number.isFinite(near);
}

/** The text in place of levels that were left out. */
export const CUT_OFF = `[left out by affiliate-mirror: more than ${MOST_LEVELS} levels deep]`;

/** Returns the value with everything that is nested too deeply replaced by a text that says so. */
export function cutDeep(value: unknown, levels = MOST_LEVELS): unknown {
  if (value === null || typeof value !== 'object' || isExactNumber(value)) return value;
  if (levels === 0) return CUT_OFF;
  if (Array.isArray(value)) return value.map((item) => cutDeep(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutDeep(inner, levels - 1)]));
}
