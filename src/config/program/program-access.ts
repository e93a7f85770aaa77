// The address of the API, and the API secret, from a variable or from a file that a variable names.

import { readSecretText } from '../read-secret-text.ts';
import { reading } from '../reading.ts';

/** An `https` address, or one of this machine, without credentials, query and version. Final slashes are removed. */
export const apiUrlSchema = reading((text, refuse) => {
  const url = URL.parse(text);
  if (url === null) return refuse('must be an address such as https://api.example.com');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('must start with https://');
  if (url.username !== '' || url.password !== '') {
    return refuse('must not hold credentials: put the secret into AFFILIATE_API_SECRET');
  }
  // Also an empty one: the paths of requests would become a part of it.
  if (/[?#]/.test(url.href)) return refuse('must not hold a query or a fragment');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return refuse('must start with https://: over http:// the secret would travel in the clear');
  }
  const base = url.href.replace(/\/+$/, '');
  return base.endsWith('/v1') ? refuse('must not end in /v1: give the address before it') : base;
});

/** Returns whether the host is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '[::1]', '::1'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Returns the secret, or null. Problems are added to `problems`. */
export function readSecret(
  given: Readonly<Record<string, string | undefined>>,
  problems: string[],
): string | null {
  const secret = readSecretText('AFFILIATE_API_SECRET', given, problems);
  return secret === null ? null : checkSecret(secret.text, secret.from, problems);
}

/**
 * Returns the secret without white space around it, or null. Problems are added to `problems`, under the name.
 *
 * Editors and `echo` leave a trailing newline; other white space inside would corrupt the header.
 */
export function checkSecret(raw: string, name: string, problems: string[]): string | null {
  const secret = raw.trim();
  if (secret === '') {
    problems.push(`${name} holds no secret: it is empty`);
    return null;
  }
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(secret)) {
    problems.push(
      `${name} holds a character that no API secret has (a space, a colon, a line break, or one that is not plain ASCII)`,
    );
    return null;
  }
  return secret;
}
