// How figures look on the pages.

import { expect, test } from 'vitest';
import { MONEY } from '../../src/contract/money.ts';
import { asOf, moneyOf, NOTHING, sumOf, tookOf } from '../../src/web/cells.ts';
import { readChoice, readId, readText, withQuery } from '../../src/web/query.ts';

test('money has the digits of its currency, in the unit in which the program counts', () => {
  expect(moneyOf(8395, 'USD', MONEY.minor)).toBe('83.95 USD');
  expect(moneyOf(8395, 'JPY', MONEY.minor)).toBe('8,395 JPY');
  expect(moneyOf(8395, 'KWD', MONEY.cent)).toBe('83.95 KWD');
  expect(moneyOf(8395, 'USD', MONEY.major)).toBe('8,395 USD');
  expect(moneyOf(null, 'USD', MONEY.minor)).toBe(NOTHING);
  expect(sumOf(null, 'USD', MONEY.minor)).toBe('too large to add up');
});

test('figures that were kept say as of when they are, those that were just read do not', () => {
  expect(asOf(new Date().toISOString())).toBeNull();
  const moment = new Date(Date.now() - 180_000).toISOString();
  expect(asOf(moment)?.text).toContain('As of 3 minutes ago');
  expect(asOf(moment)?.text).toContain(`datetime="${moment}"`);
});

test('a clock that was set back makes no negative duration', () => {
  expect(tookOf(-5)).toBe('0.0 s');
});

test.each([
  ['12', 12],
  ['0', null],
  ['012', null],
  ['1.5', null],
  ['9'.repeat(16), null],
  [undefined, null],
])('%s names the row %s', (text, id) => {
  expect(readId(text)).toBe(id);
});

test('what an address asks for is cleaned, and what is no choice is none', () => {
  expect(readText('  a\u0000b ')).toBe('ab');
  expect(readText('\u0000')).toBeNull();
  expect(readText('\uD800')).toBe('\uFFFD');
  expect(readChoice('b', ['a', 'b'])).toBe('b');
  expect(readChoice('toString', ['a', 'b'])).toBeNull();
});

test('an address has only what is given, spelled so that it is read back', () => {
  expect(withQuery('/runs', { resource: null, before: null })).toBe('/runs');
  const path = withQuery('/runs', { state: 'a&b=c #', before: 7, resource: null });
  expect(Object.fromEntries(new URL(path, 'http://localhost').searchParams)).toEqual({
    state: 'a&b=c #',
    before: '7',
  });
});
