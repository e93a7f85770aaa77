// Whatever text a job meets, both queues can store it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { storableText } from '../../src/db/storable.ts';

test('no NUL and no half character is left', () => {
  const text = fc.string({
    unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0', '\ud800', 'a\udfff')),
  });
  fc.assert(
    fc.property(text, (any) => {
      expect(storableText(any)).not.toContain('\0');
      expect(storableText(any).isWellFormed()).toBe(true);
    }),
    // Alone, at both ends, and two halves that only meet once a NUL between them is gone.
    { examples: [['\0'], ['\udfffa\ud800'], ['\ud83e\0\udd8a']] },
  );
});

test('everything else stays as it is', () => {
  expect(storableText('žluťoučký 🐎')).toBe('žluťoučký 🐎');
});
