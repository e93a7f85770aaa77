// Hashes of values: what is equal stays equal, and anybody with the key can make the same.

import { createHmac, createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  fingerprint,
  hashValue,
  isHashed,
  normalise,
  storedForms,
} from '../../../src/mirror/people/values.ts';

const bytes = Buffer.from('thirty-two bytes, not one fewer.');
const key = createSecretKey(bytes);

test('a hash is the one that the page describes', () => {
  const hash = hashValue(key, normalise(' Jane@Example.com\n', true));
  expect(hash).toBe(`hmac:${createHmac('sha256', bytes).update('jane@example.com', 'utf8').digest('hex')}`);
  expect(isHashed(hash)).toBe(true);
  expect(isHashed('hmac:jane@example.com')).toBe(false);
});

test('the page shows the hash of its example', () => {
  const page = readFileSync(new URL('../../../docs/personal-data.md', import.meta.url), 'utf8');
  const example = /With the 32 bytes\s`(.+?)`, the address ` (\S+) ` is\s`(.+?)`/.exec(page);
  const [, itsKey = '', address = '', hash] = example ?? [];
  expect(hashValue(createSecretKey(Buffer.from(itsKey)), normalise(address, true))).toBe(hash);
  expect(itsKey).toBe(bytes.toString());
});

test('addresses are compared in lower case, names and tokens but for white space and how letters are composed', () => {
  expect(normalise(' Ada ', false)).toBe('Ada');
  // One letter, or a letter and its accent: the same to whoever reads it.
  expect(normalise('Zoe\u0308', false)).toBe('Zo\u00eb');
});

test('an address is looked for as its mode stores it, and an international domain in both spellings', () => {
  const hashed = { mode: 'hash', key } as const;
  const [hash = ''] = storedForms(hashed, 'JANE@example.com');
  expect(hash).toBe(hashValue(key, 'jane@example.com'));
  expect(storedForms(hashed, hash)).toEqual([hash]);
  expect(storedForms(hashed, 'cus_Jane')).toEqual(['cus_jane']);
  const plain = { mode: 'plain', key: null } as const;
  expect(storedForms(plain, 'Jane@MÜNCHEN.de')).toEqual(['jane@xn--mnchen-3ya.de', 'jane@münchen.de']);
});

test('the fingerprint tells keys apart and is no hash of a value', () => {
  expect(fingerprint(key)).not.toBe(fingerprint(createSecretKey(Buffer.alloc(32))));
  expect(isHashed(`hmac:${fingerprint(key)}`)).toBe(false);
});
