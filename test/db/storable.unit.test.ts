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
    // Alone, at both ends, in names, and two halves that only meet once a NUL between them is gone.
    { examples: [['\0'], ['\udfffa\ud800'], [{ '\0': [{ '\ud800': '\udfff' }] }], ['\ud83e\0\udd8a']] },
  );
});

test('everything else stays as it is', () => {
  const value = { text: 'žluťoučký 🐎', list: [1, null, true, { deep: '' }] };
  expect(storable(value)).toEqual(value);
});
