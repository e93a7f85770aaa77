// Makes the pattern that finds a person's addresses and names in texts, however what is quoted there spells them: in
// JSON, in a web address, in HTML.

/** What finds a person in a text. */
export interface Pattern {
  /**
   * Of all that is looked for; Postgres and JavaScript read it alike. Postgres takes milliseconds for one text where
   * that is a hundred names.
   */
  readonly regex: string;
  /** A text in which the regex finds anything has one of these in it, in lower case. */
  readonly words: readonly string[];
}

/**
 * What may be before a word and is no part of it, though it ends in a letter or a digit: the end of a line, a tab or
 * punctuation as JSON escapes them, and what a web address has in place of punctuation.
 */
const AFTER_ESCAPE = String.raw`(?<=\\[bfnrt])|(?<=\\u00[0-3][0-9A-Fa-f])|(?<=%[2-7][0-9A-Fa-f])`;

/** Returns a pattern that finds any of the texts where it is no part of a longer address or word; null for none. */
export function patternOf(texts: readonly string[]): Pattern | null {
  if (texts.length === 0) return null;
  const regex = `(?:(?<![\\w.+-])|${AFTER_ESCAPE})(?:${texts.map(spellings).join('|')})(?![\\w-]|\\.\\w)`;
  return { regex, words: [...new Set(texts.map(longestWord))] };
}

/** White space, also as a web address has it. */
const BLANK = String.raw`(?:\s|\+|%20)`;

function spellings(text: string): string {
  return text.replace(/,?\s+|[^A-Za-z0-9_-]/gu, (found) => {
    if (!/\s$/.test(found)) return anyOf(found);
    return found.startsWith(',') ? `${BLANK}*${anyOf(',')}${BLANK}*` : `${BLANK}+`;
  });
}

const NAMED_IN_HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Returns the pattern of one character in any spelling. Those of the other case differ where it is encoded. */
function anyOf(character: string): string {
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  const spelled = [...cases].flatMap((one) => [
    literal(one),
    [...Buffer.from(one)].map((byte) => `%${hex(byte, 2)}`).join(''),
    Array.from({ length: one.length }, (_, at) => String.raw`\\+u${hex(one.charCodeAt(at), 4)}`).join(''),
    [...one].map((point) => `&#0*${point.codePointAt(0)};`).join(''),
    [...one].map((point) => `&#x0*${hex(point.codePointAt(0) ?? 0, 1)};`).join(''),
    ...(one in NAMED_IN_HTML ? [NAMED_IN_HTML[one] ?? ''] : []),
  ]);
  return `(?:${[...new Set(spelled)].join('|')})`;
}

function literal(text: string): string {
  return text.replace(/[^\p{L}\p{N}\s@_-]/gu, '\\$&');
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** Of ASCII, whose case is the same matter in every language; empty, which is in every text, where there is none. */
function longestWord(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? [];
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest), '').toLowerCase();
}
