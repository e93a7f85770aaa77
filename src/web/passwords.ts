// Which password somebody gave, found out in the same time whatever was given.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { StatusPasswords } from '../config/status-page.ts';

/** What a right password opens: the page, or the page with personal data on it. */
export type Right = 'page' | 'people';

/** Returns the function that returns what a password opens; null for a wrong one. */
export function makeFindRight({ password, piiPassword }: StatusPasswords): (given: string) => Right | null {
  // Digests are of one length, whatever the passwords are.
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  // What is not set is no text that anybody could send.
  const ofPage = password === null ? randomBytes(32) : digest(password);
  const ofPeople = piiPassword === null ? randomBytes(32) : digest(piiPassword);
  return (given) => {
    const found = digest(given);
    const isPage = timingSafeEqual(found, ofPage);
    const isPeople = timingSafeEqual(found, ofPeople);
    return isPeople ? 'people' : isPage ? 'page' : null;
  };
}
