// Whatever text a job meets, both queues can store it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { storable } from '../../src/db/storable.ts';

test('no NUL and no half character is left, however deep', () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\ud800', 'a\udfff'),
      fc.integer(),
      tie('more'),
    ),
    more: fc.oneof(fc.array(tie('value')), fc.dictionary(fc.string({ unit: 'binary' }), tie('value'))),
  })).value;
  fc.assert(
    fc.property(value, (any) => {
      const text = JSON.stringify(storable(any));
      expect(text).not.toContain('\\u0000');
      expect(text).not.toMatch(/\\ud[89a-f]/);
    }),
  );
});

test('everything else stays as it is', () => {
  const value = { text: 'žluťoučký 🐎', list: [1, null, true, { deep: '' }] };
  expect(storable(value)).toEqual(value);
});
