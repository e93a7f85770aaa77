// Keeps the secret out of every text that came from the network: servers and proxies echo what they were sent. It is
// looked for as it is, as JSON escapes it, percent-encoded, and as the header that it was sent in. Spellings that no
// server makes of what it received (each letter escaped, hexadecimal) are not looked for.

const REPLACEMENT = '[secret]';

/** Removes the secret from a text. */
export interface Scrub {
  (text: string): string;
  /** Whether what it finds can only be the secret: a short one may occur in a name or a number by chance. */
  readonly isSure: boolean;
  /** Returns the same for a text that is UTF-8, without making a string of it where there is nothing to remove. */
  inBytes(bytes: Buffer): Buffer;
}

/** Shorter secrets are looked for in messages, not in data. */
const SURE_LENGTH = 8;

/** Returns the scrubber for one secret. */
export function makeScrub(secret: string): Scrub {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const header = Buffer.from(`${secret}:`).toString('base64').replace(/=+$/, '');
  const escaped = [inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)];
  // The longest first: one may be a part of another.
  const needles = [...new Set([secret, header, ...escaped])].toSorted((a, b) => b.length - a.length);
  const remove = (text: string) =>
    needles.reduce((clean, needle) => clean.replaceAll(needle, REPLACEMENT), text);
  return Object.assign(remove, {
    isSure: secret.length >= SURE_LENGTH,
    inBytes: (bytes: Buffer) =>
      needles.some((needle) => bytes.includes(needle)) ? Buffer.from(remove(bytes.toString())) : bytes,
  });
}
