// By what refused records without an identifier are told apart where their text is left out.

import { expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import { makeTreatment } from '../../src/personal-data/make-treatment.ts';
import { HASH, OMIT } from './marked-program.ts';

function digestOf(settings: PersonalDataSettings, note: string): unknown {
  return makeTreatment(settings).treatRefused(null, { note });
}

test('with a key, by a hash of that key, which is the same in every process', () => {
  expect(digestOf(HASH, 'Maria')).toEqual({
    id: null,
    left_out: '36d97a2801b88dd215acd3d73ed5639dd6302a0cf19e4cc2d39c63230856e3a9',
  });
  expect(digestOf(HASH, 'Ann')).not.toEqual(digestOf(HASH, 'Maria'));
});

test('without a key, by one of this process', () => {
  expect(digestOf(OMIT, 'Maria')).toEqual(digestOf(OMIT, 'Maria'));
  expect(digestOf(OMIT, 'Ann')).not.toEqual(digestOf(OMIT, 'Maria'));
  expect(digestOf(OMIT, 'Maria')).not.toEqual(digestOf(HASH, 'Maria'));
});
