// Turns single values into what may be stored of them: keyed hashes that stay equal where the values are equal, and
// salted hashes of the addresses of people who were forgotten.

import { createHash, createHmac, type KeyObject } from 'node:crypto';
import type { PersonalDataSettings } from '../config/personal-data.ts';
import { addressSpellings, canonicalAddress } from '../contract/mail-address.ts';

const PREFIX = 'hmac:';
const HASHED = /^hmac:[0-9a-f]{64}$/;
const FINGERPRINT_OF = 'affiliate-mirror: which key is it';
const FINGERPRINT_CHARACTERS = 32;

/** Returns the value as it is compared. */
export function normalise(value: string, isAddress: boolean): string {
  return isAddress ? canonicalAddress(value) : value.normalize('NFC').trim();
}

/** Returns the keyed hash of a value that was normalised, as text that says what it is. */
export function hashValue(key: KeyObject, normalised: string): string {
  return `${PREFIX}${createHmac('sha256', key).update(normalised).digest('hex')}`;
}

/** Returns whether a stored text is such a hash. */
export function isHashed(value: string): boolean {
  return HASHED.test(value);
}

/** Returns whether the text is an e-mail address, as far as that can be seen. */
export function isAddress(text: string): boolean {
  return /^\S+@\S+$/.test(text);
}

/** Returns what is kept of the key, so that another one is noticed. */
export function fingerprint(key: KeyObject): string {
  return createHmac('sha256', key).update(FINGERPRINT_OF).digest('hex').slice(0, FINGERPRINT_CHARACTERS);
}

/**
 * Returns the texts as which a mirror in this mode stores an address or an identifier of a customer, given plain or as
 * it is stored: its keyed hash, or the address with its domain in either spelling.
 */
export function storedForms({ mode, key }: PersonalDataSettings, text: string): readonly string[] {
  if (isHashed(text)) return [text];
  const normalised = normalise(text, true);
  if (mode === 'hash' && key !== null && isAddress(normalised)) return [hashValue(key, normalised)];
  return addressSpellings(normalised);
}

/** Returns what is kept of a form that leads to a forgotten person, as salted_hash() in the database makes it. */
export function saltForm(salt: string, form: string): string {
  return createHash('sha256').update(`${salt}${form.toLowerCase()}`).digest('hex');
}
