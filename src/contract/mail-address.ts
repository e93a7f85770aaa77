// One rule of equality for e-mail addresses. `jane@münchen.de` and `jane@xn--mnchen-3ya.de` are one mailbox: a domain
// beyond ASCII has two spellings, and each sender of an address chooses one.

import { domainToASCII, domainToUnicode } from 'node:url';

/** A domain that may have two spellings. */
const INTERNATIONAL = /[^ -~]|xn--/i;

/** Node would take these as the end of a URL's host, decode them or drop them. */
const NO_DOMAIN = /[\s/?#\\%]/;

/** For comparing addresses: composed, trimmed, in lower case, with the domain in ASCII. */
export function canonicalAddress(text: string): string {
  const plain = text.normalize('NFC').trim();
  return (plain.includes('@') ? respell(plain, domainToASCII) : plain).toLowerCase();
}

/** Returns the address, or a part of one, unchanged and with its domain in both spellings. */
export function addressSpellings(text: string): readonly string[] {
  return [...new Set([text, respell(text, domainToASCII), respell(text, domainToUnicode)])];
}

function respell(text: string, spell: (domain: string) => string): string {
  const begin = text.lastIndexOf('@') + 1;
  const domain = text.slice(begin);
  if (!INTERNATIONAL.test(domain) || NO_DOMAIN.test(domain)) return text;
  // Empty if it is no domain.
  return text.slice(0, begin) + (spell(domain) || domain);
}
