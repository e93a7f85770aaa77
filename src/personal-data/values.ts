// Turns single values into what may be stored of them: keyed hashes that stay equal where the values are equal, and
// salted hashes of the addresses of people who were forgotten.

import { createHmac, type KeyObject } from 'node:crypto';
import { canonicalAddress } from '../contract/mail-address.ts';

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

/** Returns the form of an address as it is stored: a hash as it is, an address as it is compared. */
export function formOf(stored: string): string {
  return isHashed(stored) ? stored : normalise(stored, true);
}

/**
 * Returns the texts under which an address may be known as forgotten: the address, and its hash where there is a key.
 */
export function addressForms(key: KeyObject | null, address: string): readonly string[] {
  if (isHashed(address)) return [address];
  const normalised = formOf(address);
  return key === null ? [normalised] : [normalised, hashValue(key, normalised)];
}

/** Returns what is kept of a forgotten address, given in one of its forms. */
export function saltAddress(salt: string, form: string): string {
  return createHmac('sha256', salt).update(form).digest('hex');
}
