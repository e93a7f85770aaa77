// Finds what Postgres cannot hold in text or jsonb, or only in a way that nothing could read again: the NUL character,
// half of a surrogate pair, a number that is too long or too large, too many levels. Cuts off what is too deep.

import { isExactNumber } from '../contract/exact-number.ts';

/**
 * How deeply a record may nest what the contract does not know. Whatever reads JSON does so by recursion, and runs out
 * of stack at some thousands of levels (Postgres at 6,000 as it is shipped, Node's JSON.stringify at 8,000, others at
 * 1,000); no program nests a hundred on purpose.
 */
export const MOST_LEVELS = 100;

/** In characters. Longer numbers are no data; Postgres' numeric ends at 16,383 digits after the point. */
const LONGEST_NUMBER = 1000;

export interface Unstorable {
  /** Where it is, dotted; of what is too deep, the field that holds it. Empty for the value itself. */
  readonly path: string;
  /** What was expected there and what came, to be read after the path. */
  readonly problem: string;
}

/**
 * Returns the first such thing in a JSON value (field names included); null where there is none.
 * Of the outermost object, `except` names fields that are not looked at, and `known` names that are known to be
 * storable.
 */
export function findUnstorable(
  value: unknown,
  { except, known }: { except: readonly string[]; known: ReadonlySet<string> } = NOTHING,
  levels = MOST_LEVELS,
): Unstorable | null {
  if (value === null || typeof value !== 'object' || isExactNumber(value)) {
    const problem = problemOf(value);
    return problem === null ? null : { path: '', problem };
  }
  if (levels === 0) return { path: '', problem: TOO_DEEP };
  // No Object.entries: it would make a pair of every field of every record.
  for (const key in value) {
    if (!known.has(key) && !isStorableText(key)) {
      return { path: JSON.stringify(key).slice(1, -1), problem: BAD_TEXT };
    }
    const inner: unknown = value[key as keyof typeof value];
    if (inner === null || except.includes(key)) continue;
    if (typeof inner === 'object') {
      const found = findUnstorable(inner, NOTHING, levels - 1);
      if (found !== null) return within(key, found);
    } else {
      const problem = problemOf(inner);
      if (problem !== null) return { path: key, problem };
    }
  }
  return null;
}

const NOTHING = { except: [], known: new Set<string>() };

const BAD_TEXT = 'expected text that Postgres can store, got a NUL character or half of a surrogate pair';
const BAD_NUMBER = `expected a number of at most ${LONGEST_NUMBER} characters and between 1e-308 and 1e308`;
const TOO_DEEP = `expected at most ${MOST_LEVELS} levels of nested values, got more`;

function within(key: string, { path, problem }: Unstorable): Unstorable {
  return { path: path === '' || problem === TOO_DEEP ? key : `${key}.${path}`, problem };
}

function problemOf(value: unknown): string | null {
  if (typeof value === 'string') return isStorableText(value) ? null : BAD_TEXT;
  if (typeof value === 'number') return Number.isFinite(value) ? null : BAD_NUMBER;
  if (!isExactNumber(value)) return null;
  const { rawJSON } = value;
  const near = rawJSON.length > LONGEST_NUMBER ? 0 : Number(rawJSON);
  return near !== 0 && Number.isFinite(near) ? null : BAD_NUMBER;
}

function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The text in place of what was left out. */
export const CUT_OFF = `[left out by affiliate-mirror: more than ${MOST_LEVELS} levels deep]`;

/** Returns the value with everything that is nested too deeply replaced by a text that says so. */
export function cutDeep(value: unknown, levels = MOST_LEVELS): unknown {
  if (value === null || typeof value !== 'object' || isExactNumber(value)) return value;
  if (levels === 0) return CUT_OFF;
  if (Array.isArray(value)) return value.map((item) => cutDeep(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutDeep(inner, levels - 1)]));
}
