// One rule of equality for e-mail addresses. `jane@münchen.de` and `jane@xn--mnchen-3ya.de` are one mailbox: a domain
// beyond ASCII has two spellings, and each sender of an address chooses one.

import { domainToASCII, domainToUnicode } from 'node:url';

/** Has two spellings, as far as can be seen. */
const INTERNATIONAL = /[^ -~]|xn--/i;

/** Node would read these as the end of the host of a URL, decode them or leave them out. */
const NO_DOMAIN = /[\s/?#\\%]/;

/** Returns the address as it is compared: composed, trimmed, in lower case, with its domain in ASCII. */
export function canonicalAddress(text: string): string {
  const plain = text.normalize('NFC').trim();
  return (plain.includes('@') ? respell(plain, domainToASCII) : plain).toLowerCase();
}

/** Returns the address, or a part of one, as it is and with its domain in each of its spellings. */
export function addressSpellings(text: string): readonly string[] {
  return [...new Set([text, respell(text, domainToASCII), respell(text, domainToUnicode)])];
}

function respell(text: string, spell: (domain: string) => string): string {
  const begin = text.lastIndexOf('@') + 1;
  const domain = text.slice(begin);
  if (!INTERNATIONAL.test(domain) || NO_DOMAIN.test(domain)) return text;
  // Empty where it is no domain.
  return text.slice(0, begin) + (spell(domain) || domain);
}
