// Which addresses are one, and how else a domain is spelled.

import { expect, test } from 'vitest';
import { addressSpellings, canonicalAddress } from '../../src/contract/mail-address.ts';

test.each([
  'jane@münchen.de',
  'jane@xn--mnchen-3ya.de',
  ' Jane@MÜNCHEN.de\n',
  'JANE@XN--MNCHEN-3YA.DE',
  'jane@mu\u0308nchen.de',
  'jane@münchen\u3002de',
])('%j is the address of jane in münchen.de', (address) => {
  expect(canonicalAddress(address)).toBe('jane@xn--mnchen-3ya.de');
});

// Node's function reads a host as the one of a URL: it ends, is decoded and shortened as that is.
test.each([
  ['jane@STRASSE.de', 'jane@strasse.de'],
  ['jane@straße.de', 'jane@xn--strae-oqa.de'],
  ['JÄNE@example.com', 'jäne@example.com'],
  ['jane@münchen.de/Sales', 'jane@münchen.de/sales'],
  ['jane@münchen.de#x', 'jane@münchen.de#x'],
  ['jane@mün\tchen.de', 'jane@mün\tchen.de'],
  ['jane@m%C3%BCnchen.de', 'jane@m%c3%bcnchen.de'],
  ['jane@192.168.1', 'jane@192.168.1'],
  ['jane@xn--a.de', 'jane@xn--a.de'],
  ['jane@mün chen', 'jane@mün chen'],
  ['Maria Müller', 'maria müller'],
  ['', ''],
])('%j is compared as %j', (address, compared) => {
  expect(canonicalAddress(address)).toBe(compared);
});

test.each([
  ['Jane@MÜNCHEN.de', ['Jane@MÜNCHEN.de', 'Jane@xn--mnchen-3ya.de', 'Jane@münchen.de']],
  ['jane@xn--mnchen-3ya.de', ['jane@xn--mnchen-3ya.de', 'jane@münchen.de']],
  ['münchen.de', ['münchen.de', 'xn--mnchen-3ya.de']],
  ['Jane@Example.com', ['Jane@Example.com']],
  ['jane@münchen.de/sales', ['jane@münchen.de/sales']],
])('%j has the spellings %j', (address, spellings) => {
  expect(addressSpellings(address)).toEqual(spellings);
});
