// Parses a single value out of a JSON text. Where the value ends is found by its strings and brackets; whether it is
// JSON is left to the parser.

import { parseJson } from './parse-json.ts';

/** What may be between the tokens of JSON, as the source of a regular expression. */
export const SPACE = '[ \\t\\n\\r]*';

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const WORD_OR_NUMBER = /[^\s,\]}"[{]+/y;

const QUOTE = 34;
const OPENING = new Set(['{', '['].map((bracket) => bracket.charCodeAt(0)));
const CLOSING = new Set(['}', ']'].map((bracket) => bracket.charCodeAt(0)));

/** Returns the value that begins at the place, as parseJson reads it, and the place after it; null where none does. */
export function parseAt(text: string, at: number): { readonly value: unknown; readonly end: number } | null {
  const end = endOfValue(text, at);
  const value = end === null ? undefined : parseJson(text.slice(at, end));
  return end === null || value === undefined ? null : { value, end };
}

// Of what is no JSON it may be any place.
function endOfValue(text: string, start: number): number | null {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfMatch(STRING, text, start);
  if (!OPENING.has(first)) return endOfMatch(WORD_OR_NUMBER, text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfMatch(STRING, text, at);
      if (end === null) return null;
      at = end - 1;
    } else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

/** Returns the place after what the sticky pattern matches at the place; null where it does not. */
export function endOfMatch(pattern: RegExp, text: string, start: number): number | null {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : null;
}
