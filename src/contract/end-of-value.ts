// Finds where a value ends in a JSON text, so that it can be parsed by itself. Whether it is JSON is left to the
// parser.

/** What may be between the tokens of JSON, as the source of a regular expression. */
export const SPACE = '[ \\t\\n\\r]*';

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const WORD_OR_NUMBER = /[^\s,\]}"[{]+/y;

const QUOTE = 34;
const OPENING = new Set(['{', '['].map((bracket) => bracket.charCodeAt(0)));
const CLOSING = new Set(['}', ']'].map((bracket) => bracket.charCodeAt(0)));

/**
 * Returns the place after the value that begins at the place, without space around it; null where none does. Of what
 * is no JSON it may be any place.
 */
export function endOfValue(text: string, start: number): number | null {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOf(STRING, text, start);
  if (!OPENING.has(first)) return endOf(WORD_OR_NUMBER, text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOf(STRING, text, at);
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

function endOf(pattern: RegExp, text: string, start: number): number | null {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : null;
}
