// What a spreadsheet would run is written so that it does not, and read as it was.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withApostrophe, withoutApostrophe } from '../../../src/payments/files/formula-guard.ts';

const texts = fc.string({ unit: fc.constantFrom(...`;,\t\r\n=+-@'" a1.`), maxLength: 12 });

test('every text is read as it was written', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(withoutApostrophe(withApostrophe(text))).toBe(text);
    }),
  );
});

test('no cell begins as a formula, whatever the delimiter with which the file is opened', () => {
  fc.assert(
    fc.property(texts, fc.constantFrom(/[;\r\n]/, /[,\r\n]/, /[\t\r\n]/, /[;,\t\r\n]/), (text, delimiter) => {
      const cell = withApostrophe(text);
      for (const part of cell.split(delimiter)) {
        // A sign alone, of "+," that is opened with commas, computes nothing.
        if (!/^[+-]?[\d.,]*$/.test(part)) expect(part).not.toMatch(/^[=+\-@]/);
      }
    }),
    { examples: [['+,', /[,\r\n]/]] },
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['\n=1', "'\n'=1"],
  ["Jane;=cmd|'/C calc'!A0", "Jane;'=cmd|'/C calc'!A0"],
  ['-1,50', '-1,50'],
  ['late, - see mail; see also', 'late, - see mail; see also'],
])('%j is written as %j', (text, cell) => {
  expect(withApostrophe(text)).toBe(cell);
});
