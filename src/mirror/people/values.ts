// Hashes of single values: keyed hashes in place of values, equal if the values are equal, and salted hashes of the
// addresses of forgotten people.

import { createHash, createHmac, type KeyObject } from 'node:crypto';
import type { PersonalDataSettings } from '../../config/program/personal-data.ts';
import { addressSpellings, canonicalAddress } from '../../contract/mail-address.ts';

const PREFIX = 'hmac:';
const HASHED = /^hmac:[0-9a-f]{64}$/;
const FINGERPRINT_OF = 'affiliate-mirror: which key is it';
const FINGERPRINT_CHARACTERS = 32;

/** Returns the form of the value in which it is compared. */
export function normalise(value: string, isAddress: boolean): string {
  return isAddress ? canonicalAddress(value) : value.normalize('NFC').trim();
}

/** Returns the keyed hash of a normalised value, as `hmac:` and hexadecimal digits. */
export function hashValue(key: KeyObject, normalised: string): string {
  return `${PREFIX}${createHmac('sha256', key).update(normalised).digest('hex')}`;
}

export function isHashed(value: string): boolean {
  return HASHED.test(value);
}

/** Returns the name; null if there is none, or it is a hash in whole or in part. */
export function readableName(name: string | null): string | null {
  return name === null || name.split(' ').some(isHashed) ? null : name;
}

/** Returns whether the text looks like an e-mail address. */
export function isAddress(text: string): boolean {
  return /^\S+@\S+$/.test(text);
}

/** Returns a fingerprint, by which the mirror notices another key. */
export function fingerprint(key: KeyObject): string {
  return createHmac('sha256', key).update(FINGERPRINT_OF).digest('hex').slice(0, FINGERPRINT_CHARACTERS);
}

/**
 * Returns the texts as which a mirror in this mode stores an address or an identifier of a customer: its keyed hash, or
 * the address with its domain in either spelling. `text` is in plain text or as it is stored.
 */
export function storedForms({ mode, key }: PersonalDataSettings, text: string): readonly string[] {
  if (isHashed(text)) return [text];
  const normalised = normalise(text, true);
  if (mode === 'hash' && key !== null && isAddress(normalised)) return [hashValue(key, normalised)];
  return addressSpellings(normalised);
}

/** Returns the hash of a form that leads to a forgotten person, as salted_hash() in the database makes it. */
export function saltForm(salt: string, form: string): string {
  return createHash('sha256').update(`${salt}${form.toLowerCase()}`).digest('hex');
}
