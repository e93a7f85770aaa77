// Removes the secret from texts that came from the network: servers and proxies echo requests. It is searched for
// plain, escaped as JSON, percent-encoded, and as the Authorization header. Other spellings, which no server makes of a
// request (each letter escaped, hexadecimal), are not.

const REPLACEMENT = '[secret]';

export interface Scrub {
  (text: string): string;
  /** Whether a match can only be the secret: a short one may occur in a name or a number by chance. */
  readonly isSure: boolean;
  /** For UTF-8; makes no string if there is nothing to remove. */
  inBytes(bytes: Buffer): Buffer;
}

/** Shorter secrets are removed from messages, not from data. */
const SURE_LENGTH = 8;

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
