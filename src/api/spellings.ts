// The ways in which a text may spell one character: as itself, or escaped for an address, for HTML, for JSON or for a
// script, also several times over.

/**
 * Returns regular expressions that together match every spelling of a character. Each matches at most one text from
 * any place, so that whoever tries them all has tried everything.
 *
 * Shape: sources, without flags; the character is visible ASCII.
 */
export function spellingsOf(character: string): readonly string[] {
  const code = character.charCodeAt(0);
  const literal = escapeRegExp(character);
  const hex = anyCase(code.toString(16).padStart(2, '0'));
  const name = HTML_NAMES.get(character);
  // A backslash before a letter or a digit would make another character of it.
  const isEscapable = /[^\w\\]/.test(character);
  return [
    literal,
    `${PERCENT}${hex}`,
    `${AMPERSAND}(?:#${ZEROS}${code};|#[xX]${ZEROS}${hex};${name === undefined ? '' : `|${name};`})`,
    // Browsers do without the semicolon.
    `${AMPERSAND}(?:#${ZEROS}${code}(?!\\d)|#[xX]${ZEROS}${hex}(?![\\da-fA-F]))`,
    `${BACKSLASH}(?:u00${hex}|x${hex}|u\\{${ZEROS}${hex}\\}${isEscapable ? `|${literal}` : ''})`,
    ...(AMBIGUOUS.get(character) ?? []),
  ];
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

// All repetitions are bounded: a text of a million zeros or backslashes must not be searched from each of them.
const ZEROS = '0{0,8}';

// What begins an escape may itself be escaped: an address within an address, JSON within JSON. Rails writes & as
// \u0026.
const BACKSLASH = String.raw`(?:\\{1,8}|%5[cC]|&#92;|&#[xX]5[cC];)`;
const PERCENT = String.raw`(?:%(?:25){0,3}|&#37;|&#[xX]25;|&percnt;|\\{1,8}u0025)`;
const AMPERSAND = String.raw`(?:(?:&|\\{1,8}u0026|%26)(?:amp;|#38;){0,3})`;

/** Characters that begin an escape and are escaped themselves: where they end is open, so each end is tried. */
const AMBIGUOUS: ReadonlyMap<string, readonly string[]> = new Map([
  ['%', ['%25', '%2525', '%252525']],
  ['&', ['&amp;', '&amp;amp;', '&amp;amp;amp;']],
  ['\\', [String.raw`\\\\`, String.raw`\\\\\\\\`]],
]);

const HTML_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '!': 'excl',
    '"': 'quot',
    '#': 'num',
    $: 'dollar',
    '%': 'percnt',
    '&': 'amp',
    "'": 'apos',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast',
    '+': 'plus',
    ',': 'comma',
    '.': 'period',
    '/': 'sol',
    ';': 'semi',
    '<': 'lt',
    '=': 'equals',
    '>': 'gt',
    '?': 'quest',
    '@': 'commat',
    '[': 'lsqb',
    '\\': 'bsol',
    ']': 'rsqb',
    '^': 'Hat',
    _: 'lowbar',
    '`': 'grave',
    '{': 'lcub',
    '|': 'verbar',
    '}': 'rcub',
  }),
);

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
