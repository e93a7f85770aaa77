// Keeps the secret out of every text that came from the network: servers and proxies echo what they were sent.
// The text is read character by character in every spelling that each could have, so a secret is found even where each
// of its characters is spelled in another way; a list of the whole secret's spellings could not do that.

import { spellingsOf } from './spellings.ts';

const REPLACEMENT = '[secret]';

/** Removes the secret from a text, in every spelling in which a server may echo it. */
export interface Scrub {
  (text: string): string;
  /** Whether what it finds can only be the secret: a short one may occur in a name or a number by chance. */
  readonly isSure: boolean;
  /** Returns the same for a text that is UTF-8, without making a string of it where there is nothing to remove. */
  inBytes(bytes: Buffer): Buffer;
}

/** Shorter secrets are looked for in messages, not in data; and not in hexadecimal, since identifiers are. */
const SURE_LENGTH = 8;

/**
 * Returns the scrubber for one secret: as it is, in hexadecimal and in base64 (the header's own spelling, with whatever
 * follows it), each character escaped or not, however often.
 * Of a text that could begin as the secret in more than 100,000 places, nothing is left.
 * A text without any of it takes a few searches (0.1 ms for a page of 120 KB); one that holds escapes is read once from
 * end to end (0.3 ms).
 */
export function makeScrub(secret: string): Scrub {
  const isSure = secret.length >= SURE_LENGTH;
  const stems = [...base64Stems(secret, isSure)];
  const hex = Buffer.from(secret).toString('hex');
  const needles = [
    makeNeedle([...secret], NO_TAIL),
    ...stems.map((stem) => makeNeedle([...stem], BASE64_TAIL)),
    // Its digits may be upper or lower case.
    ...(isSure ? [makeNeedle(Array.from(hex, bothCases), NO_TAIL)] : []),
  ];
  const perhaps = new RegExp(needles.map(({ head }) => head).join('|'), 'g');
  const unescaped = [secret, ...stems, ...(isSure ? [hex, hex.toUpperCase()] : [])].map(rarePart);
  const signs = [...ESCAPES, ...unescaped].map((sign) => Buffer.from(sign));
  const isClean = (bytes: Buffer) => !signs.some((sign) => bytes.includes(sign));

  const remove = (text: string): string => {
    let clean = '';
    let from = 0;
    let fruitless = 0;
    perhaps.lastIndex = 0;
    for (let found = perhaps.exec(text); found !== null; found = perhaps.exec(text)) {
      const end = Math.max(...needles.map((needle) => endOf(needle, text, found.index)));
      if (end === NOT_HERE) {
        perhaps.lastIndex = found.index + 1;
        fruitless += 1;
        // Each takes a microsecond: nothing in such a text is worth so many.
        if (fruitless > MOST_FRUITLESS) return REPLACEMENT;
      } else {
        clean += text.slice(from, found.index) + REPLACEMENT;
        from = end;
        perhaps.lastIndex = end;
      }
    }
    return clean + text.slice(from);
  };
  return Object.assign((text: string) => (isClean(Buffer.from(text)) ? text : remove(text)), {
    isSure,
    inBytes: (bytes: Buffer) => (isClean(bytes) ? bytes : Buffer.from(remove(bytes.toString()))),
  });
}

/** Every escape contains one of these. */
export const ESCAPES = ['%', '&', '\\'];

/** So many characters show where the secret may begin; the rest is read only there. */
const HEAD_LENGTH = 4;

/**
 * A page has hardly any place where the secret could begin and does not. One that has so many is made of its first
 * characters, or of escapes of escapes.
 */
const MOST_FRUITLESS = 100_000;

/** A part shorter than this is often found where the rest does not follow, and costs more than it saves. */
const RARE_LENGTH = 8;

const NOT_HERE = -1;

// A search looks for the first character first, and capital letters are rare on a page.
function rarePart(text: string): string {
  const capital = text.search(/[A-Z]/);
  return capital > 0 && text.length - capital >= RARE_LENGTH ? text.slice(capital) : text;
}

interface Needle {
  /** Matches every spelling of the first characters. */
  readonly head: string;
  /** Of each character, every spelling. */
  readonly characters: readonly (readonly RegExp[])[];
  /** What is removed with it. */
  readonly tail: RegExp;
}

const NO_TAIL = /(?:)/y;
const BASE64_TAIL = /[\w+/=-]*/y;

/** Each of the `characters` is a text of all those that may be in its place. */
function makeNeedle(characters: readonly string[], tail: RegExp): Needle {
  return {
    head: characters
      .slice(0, HEAD_LENGTH)
      .map((choices) => `(?:${[...choices].flatMap(spellingsOf).join('|')})`)
      .join(''),
    characters: characters.map(readersOf),
    tail,
  };
}

/** Kept, since the same few characters occur again and again. */
const readers = new Map<string, readonly RegExp[]>();

function readersOf(choices: string): readonly RegExp[] {
  let known = readers.get(choices);
  if (known === undefined) {
    known = [...choices].flatMap(spellingsOf).map((source) => new RegExp(source, 'y'));
    readers.set(choices, known);
  }
  return known;
}

function bothCases(digit: string): string {
  return /[a-f]/.test(digit) ? digit + digit.toUpperCase() : digit;
}

/** Returns where the needle that begins at a place of the text ends; the furthest, where there are several. */
function endOf({ characters, tail }: Needle, text: string, start: number): number {
  let ends = new Set([start]);
  for (const spellings of characters) {
    const next = new Set<number>();
    for (const at of ends) {
      for (const spelling of spellings) {
        spelling.lastIndex = at;
        if (spelling.test(text)) next.add(spelling.lastIndex);
      }
    }
    if (next.size === 0) return NOT_HERE;
    ends = next;
  }
  tail.lastIndex = Math.max(...ends);
  tail.test(text);
  return tail.lastIndex;
}

// The base64 digits that depend on the secret alone, whatever comes before and after it, in both alphabets.
function base64Stems(secret: string, wherever: boolean): Set<string> {
  const stems = new Set<string>();
  for (const before of wherever ? [0, 1, 2] : [0]) {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const [first, last] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    for (const alphabet of ['base64', 'base64url'] as const) {
      stems.add(bytes.toString(alphabet).slice(first, last));
    }
  }
  return stems;
}
