// Parses JSON without changing a number. JSON.parse makes doubles, which hold 15 digits for certain; a longer number is
// stored as its text. A reviver reads each number's text only if the page has a longer one, which is rare: with a
// reviver JSON.parse takes 13.7 times as long (on a page of 35 KB).

import { makeExactNumber } from './exact-number.ts';

/** A double preserves this many digits. */
export const CERTAIN_DIGITS = 15;

/** Where a number could begin: in a string, digits usually follow another character. */
const HAS_LONG_NUMBER = /(?:^|[-:[,\s])[\d.]{16}/;
/** The same of one number, without its exponent. */
const IS_LONG_NUMBER = /^-?[\d.]{16}/;

/** In V8 since 2023, not yet in TypeScript's library. */
const parseWith = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

/**
 * A number that a double would change becomes an ExactNumber. Returns undefined if the text is no JSON: the parser's
 * own error is dropped because it quotes the text. Magnitudes beyond a double's become Infinity or 0, as in JSON.parse.
 * A text that is nested too deeply for a reviver is parsed without one.
 */
export function parseJson(text: string): unknown {
  try {
    return HAS_LONG_NUMBER.test(text) ? parseExactly(text) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseExactly(text: string): unknown {
  try {
    return parseWith(text, keepDigits);
  } catch (error) {
    // The reviver goes through the value by recursion.
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || !IS_LONG_NUMBER.test(source)) return value;
  return String(value) === source ? value : makeExactNumber(source);
}
