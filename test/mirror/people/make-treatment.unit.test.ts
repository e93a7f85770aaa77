// What is kept of a coupon and of totals whose names are left out.

import { expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../../src/config/program/personal-data.ts';
import { makeTreatment, treatCoupon, treatFigures } from '../../../src/mirror/people/make-treatment.ts';
import { HASH, OMIT } from './marked-program.ts';

const COUPON = {
  id: 'c0000000-0000-4000-8000-00000000000c',
  affiliate_id: 'a0000000-0000-4000-8000-00000000000a',
  archived: false,
  archived_at: '2026-07-01T00:00:00Z',
};

test('both names of a coupon are stored otherwise, and all that says nothing of a person stays', () => {
  const coupon = { ...COUPON, token: 'MARIA10', external_id: 'MARIA20', note: 'for Maria' };
  expect(treatCoupon(coupon, (name) => `hash of ${name}`)).toEqual({
    ...COUPON,
    token: 'hash of MARIA10',
    external_id: 'hash of MARIA20',
  });
  expect(treatCoupon(coupon, () => null)).toEqual({ ...COUPON, token: null, external_id: null });
});

// One that is treated again, as it is stored, must be the same: otherwise every rewriting counts it.
test('a coupon has no field more than it had', () => {
  expect(Object.keys(treatCoupon({ token: 'MARIA10' }, () => null))).toEqual(['token']);
  expect(Object.keys(treatCoupon({ archived: null }, () => null))).toEqual(['archived']);
  expect(treatCoupon({}, () => null)).toEqual({});
});

test.each([
  ['id', 'maria@people.example'],
  ['id', 7],
  ['affiliate_id', { email: 'maria@people.example' }],
  ['archived', 'by Maria'],
  ['archived_at', 'when Maria left'],
  ['token', { name: 'MARIA10' }],
  ['external_id', ['MARIA20']],
])('where the program sends something else as %s of a coupon, %j, it is not kept', (field, value) => {
  expect(JSON.stringify(treatCoupon({ [field]: value }, (name) => name))).toMatch(/^\{("\w+":null)?\}$/);
});

test('of totals numbers, flags and currencies stay, in lists too, to the last digit', () => {
  const totals = { cents: 7, is_paid: true, currency: 'USD', none: null, list: [{ cents: 1 }, 2] };
  expect(JSON.stringify(treatFigures(totals))).toBe(JSON.stringify(totals));
});

test('of totals no other text stays, neither as a value nor as a name', () => {
  const totals = {
    currency: 'USD of Maria',
    by: 'maria@people.example',
    'maria@people.example': 7,
    list: ['for Maria', 'EUR'],
  };
  expect(treatFigures(totals)).toEqual({ currency: null, by: null, list: [null, 'EUR'] });
});

function digestOf(settings: PersonalDataSettings, note: string): unknown {
  return makeTreatment(settings).treatRefused(null, { note });
}

test('refused records without an identifier are told apart by a hash of the key of that key, which is the same in every process', () => {
  expect(digestOf(HASH, 'Maria')).toEqual({
    id: null,
    left_out: '36d97a2801b88dd215acd3d73ed5639dd6302a0cf19e4cc2d39c63230856e3a9',
  });
  expect(digestOf(HASH, 'Ann')).not.toEqual(digestOf(HASH, 'Maria'));
});

test('without a key, they are told apart by a hash of this process', () => {
  expect(digestOf(OMIT, 'Maria')).toEqual(digestOf(OMIT, 'Maria'));
  expect(digestOf(OMIT, 'Ann')).not.toEqual(digestOf(OMIT, 'Maria'));
  expect(digestOf(OMIT, 'Maria')).not.toEqual(digestOf(HASH, 'Maria'));
});
