// Reading JSON without changing a number.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExactNumber } from '../../src/contract/exact-number.ts';
import { parseJson } from '../../src/contract/parse-json.ts';

const digits = (least: number) => fc.stringMatching(new RegExp(`^[0-9]{${least},30}$`));

/** Every way to write a number in JSON, between what a double can come near to. */
const numbers = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,30}$/)),
    fraction: fc.oneof(
      fc.constant(''),
      digits(1).map((text) => `.${text}`),
    ),
    exponent: fc.oneof(
      fc.constant(''),
      fc.integer({ min: -200, max: 200 }).map((power) => `e${power}`),
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => `${sign}${whole}${fraction}${exponent}`);

/** The number as a whole multiple of a power of ten that is below all of them. */
function scaled(number: string): bigint {
  const [mantissa = '', power = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const sign = whole.startsWith('-') ? -1n : 1n;
  return (
    sign * BigInt(whole.replace('-', '') + fraction) * 10n ** BigInt(400 + Number(power) - fraction.length)
  );
}

describe('reading JSON', () => {
  it('changes no number, wherever it is', () => {
    fc.assert(
      fc.property(fc.array(numbers, { minLength: 1 }), fc.boolean(), (texts, isSpaced) => {
        const [between, around] = isSpaced ? [' ,\n', ' '] : [',', ''];
        const list = `[${around}${texts.join(between)}${around}]`;
        for (const text of [list, `{"a":{"b":${list}}}`, `{"n": ${texts[0]}}`]) {
          const written = JSON.stringify(parseJson(text));
          const found = written.match(/-?\d[\d.eE+-]*/g) ?? [];
          const sent = text.startsWith('{"n"') ? texts.slice(0, 1) : texts;
          expect(found.map(scaled)).toEqual(sent.map(scaled));
        }
      }),
      {
        numRuns: 500,
        // Around the last integer that a double holds, zeros, the ends of its range, digits that it drops.
        examples: [
          [['9007199254740991', '9007199254740992', '9007199254740993'], true],
          [['-0', '-0.0', '0e-200', '0e200'], false],
          [['1e200', '-4.9e-200', '1e0', '0.10'], true],
          [['0.1234567890123456789', '1234567890.1234567890'], false],
        ],
      },
    );
  });

  it('makes the same of a number whatever is beside it, however far beyond a double it is', () => {
    const power = fc.stringMatching(/^[eE][+-]?[0-9]{1,25}$/);
    fc.assert(
      fc.property(numbers, power, (number, exponent) => {
        const far = `${number.replace(/e.*$/, '')}${exponent}`;
        expect(parseJson(`[${far},12345678901234567890]`)).toEqual([
          ...(parseJson(`[${far}]`) as unknown[]),
          parseJson('12345678901234567890'),
        ]);
      }),
      {
        numRuns: 500,
        // 15 digits are certain, and what is in the power is no digit of the number.
        examples: [
          ['-1', 'e51000000000000000'],
          ['-1.2345678901234', 'e400'],
          ['1.23456789012345', 'e-400'],
          ['-123456789012345', 'E+310'],
        ],
      },
    );
  });

  it('is JSON.parse for all that a double holds', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.maxSafeInteger(),
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        (json, whole, real) => {
          // A long number, so that the whole text is parsed exactly.
          for (const text of [json, `[${json},9007199254740991,${whole},${JSON.stringify(real)}]`]) {
            expect(parseJson(text)).toEqual(JSON.parse(text));
          }
        },
      ),
    );
  });

  it.each(['1234567890123456789', '0.1234567890123456789', '-12345678901234567890'])(
    'keeps %s alone as its text',
    (text) => {
      const value = parseJson(text);
      expect(isExactNumber(value)).toBe(true);
      expect(JSON.stringify(value)).toBe(text);
    },
  );

  it('leaves digits in a text alone', () => {
    const text = '{"a":"x: 12345678901234567890, \\"12345678901234567890","n":12345678901234567890}';
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  it.each([
    '',
    '{',
    '[1234567890123456789',
    '[01234567890123456789]',
    '[1234567890123456789.]',
    '[+1234567890123456789]',
    '[1234567890123456789a]',
    '{1234567890123456789:1}',
  ])('takes %s for no JSON', (text) => {
    expect(parseJson(text)).toBeUndefined();
  });

  it('reads a text of 50,000 levels with a long number as JSON.parse does', () => {
    const text = `[${'['.repeat(50_000)}1${']'.repeat(50_000)},9007199254740993]`;
    expect((parseJson(text) as unknown[])[1]).toBe(Number('9007199254740993'));
  });

  it('reads a long number beside a text of millions of escapes', () => {
    const text = `["${'\\n'.repeat(2_000_000)}",9007199254740993]`;
    expect(isExactNumber((parseJson(text) as unknown[])[1])).toBe(true);
  });
});
