// Finds the e-mail addresses in a text, wherever they are: at the end of a sentence, at the beginning of a line of
// JSON, in a web address.

/** Asked for an @ here, a long word without one would take its length squared. */
const WORDS = /[^\s"'<>()[\]{},;:\\]+/g;
const HASHES = /hmac:[0-9a-f]{64}/g;

/** How JSON spells the end of a line, a tab, and punctuation that means something in HTML. */
const ESCAPES = /\\(?:[bfnrt]|u00[0-3][0-9a-f])/gi;

/** How JSON may spell any other character; in JSON within JSON with more than one backslash. */
const LETTERS = /\\+u([0-9a-f]{4})/gi;

/** How a web address spells punctuation, the @ included, and letters beyond ASCII. */
const ENCODED = /(?:%[2-9a-f][0-9a-f])+/gi;

/** Characters that an address may have, but that hardly any has: in a web address they are around it. */
const AROUND = /[/?&=#|!*]/;

/** Returns whatever in a text, or in JSON, may be an address or a hash of one: more than there are. */
export function addressesIn(text: string): ReadonlySet<string> {
  const found = new Set<string>(text.match(HASHES));
  const plain = text
    .replace(ESCAPES, ' ')
    .replace(LETTERS, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  for (const spelling of [plain, plain.replace(ENCODED, decode)]) {
    for (const word of spelling.match(WORDS) ?? []) {
      if (!word.includes('@')) continue;
      for (const part of [word, ...word.split(AROUND)]) {
        if (part.includes('@')) found.add(part).add(part.replace(/\.{1,3}$/, ''));
      }
    }
  }
  return found;
}

// By Buffer, which takes what is no UTF-8 as well.
function decode(encoded: string): string {
  return Buffer.from(encoded.replaceAll('%', ''), 'hex').toString();
}
