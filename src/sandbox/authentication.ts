// Checks the secret of a request, sent by HTTP Basic. It is never printed.
//
// Decisions where the contract is silent: the password must be empty or left out with its colon; any other one is
// refused. A 401 names the scheme in WWW-Authenticate, as HTTP demands; it is decided before the rate limit, does not
// count against it and carries none of its headers.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Source: contract, Errors, and its addendum. */
export const INVALID_SECRET = 'Invalid API Secret.';

/** Returns a check of the Authorization header, in a time that does not depend on where a guess is wrong. */
export function makeAuthentication(secret: string): (header: string | undefined) => boolean {
  // Hashes have one length whatever was sent, which timingSafeEqual needs.
  const expected = digest(secret);
  return (header) => {
    const match = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header ?? '');
    if (match === null) return false;
    const credentials = Buffer.from(match[1] ?? '', 'base64').toString('utf8');
    const colon = credentials.indexOf(':');
    const username = colon === -1 ? credentials : credentials.slice(0, colon);
    const password = colon === -1 ? '' : credentials.slice(colon + 1);
    return timingSafeEqual(digest(username), expected) && password === '';
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
