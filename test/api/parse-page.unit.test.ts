// Not vitest's own equality: it takes a field named `constructor` for the object's class.
import { deepStrictEqual } from 'node:assert/strict';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeParsePage } from '../../src/api/parse-page.ts';
import { toContractSpelling } from '../../src/contract/wire-aliases.ts';

/** What a plain parser makes of the page. */
function parsePlainly(text: string): unknown {
  const json = JSON.parse(text) as { data?: unknown } | null;
  return Array.isArray(json?.data) ? { ...json, data: json.data.map(toContractSpelling) } : json;
}

function pageOf(...data: readonly unknown[]): Buffer {
  return Buffer.from(JSON.stringify({ pagination: { total_count: data.length }, data }));
}

function recordsOf(json: unknown): readonly Record<string, unknown>[] {
  return (json as { data: readonly Record<string, unknown>[] }).data;
}

/** Texts that look like the bytes by which a nested record is found, beside any other. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('":{"id":"', '{"id":"x"}', '\\', '"', '\\"', '}', 'affiliate":{"id":"1"}', 'Łukasz 🙂', ''),
);
const fieldName = fc.oneof(
  fc.constantFrom('affiliate', 'link', 'customer', 'sale', 'links', 'campaign', 'stripe_customer_id', 'id'),
  fc.constant('say "affiliate'),
  // No other with an escape: Node 26.10's JSON.parse takes one such name for another that it met before, `"` for `\\`.
  text.filter((name) => name !== '__proto__' && JSON.stringify(name) === `"${name}"`),
);
/** Few identifiers, so that one object often comes again, the same or changed. */
const id = fc.oneof(fc.constantFrom('a', 'b', 'c0ffee00-0000-4000-8000-000000000001'), text);
const { value } = fc.letrec<{ value: unknown; nested: unknown }>((tie) => ({
  nested: fc
    .tuple(id, fc.dictionary(fieldName, tie('value'), { maxKeys: 3, noNullPrototype: true }))
    .map(([first, fields]) => ({ id: first, ...fields })),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
    tie('nested'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
}));
const record = fc.dictionary(fieldName, value, { maxKeys: 5, noNullPrototype: true });
const indent = fc.constantFrom('', ' ', '\t');
const page: Arbitrary<string> = fc
  .tuple(fc.array(fc.oneof({ weight: 9, arbitrary: record }, value), { maxLength: 6 }), indent)
  .map(([data, space]) => JSON.stringify({ pagination: {}, data }, null, space));
const anything = fc.oneof(
  { weight: 9, arbitrary: page },
  value.map((json) => JSON.stringify(json)),
);

describe('pages of records', () => {
  it('are parsed as if each were parsed alone, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 6 }), (texts) => {
        const parsePage = makeParsePage();
        for (const one of texts) deepStrictEqual(parsePage(Buffer.from(one)), parsePlainly(one));
      }),
      { numRuns: 1000 },
    );
  });

  it('that were broken anywhere are JSON or not as JSON.parse says, and spoil no later page', () => {
    const breaks = fc.tuple(page, fc.nat(), fc.constantFrom('', '"', '{', '}', '\\', ':'));
    fc.assert(
      fc.property(fc.array(breaks, { maxLength: 6 }), (broken) => {
        const parsePage = makeParsePage();
        for (const [whole, place, by] of broken) {
          const at = place % whole.length;
          // Half of a character that is cut in two is another one in UTF-8.
          const one = (whole.slice(0, at) + by + whole.slice(at + 1)).toWellFormed();
          const outcome = (parse: () => unknown) => {
            try {
              return { json: parse() };
            } catch (error) {
              return (error as Error).name;
            }
          };
          deepStrictEqual(
            outcome(() => parsePage(Buffer.from(one))),
            outcome(() => parsePlainly(one)),
          );
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('share a nested record that stands in many of them, and are told of every change', () => {
    const parsePage = makeParsePage();
    const affiliate = { id: 'a1', stripe_account_id: 'acct_1', visitors: 1 };
    const changed = { ...affiliate, visitors: 2 };
    const [first, second] = recordsOf(parsePage(pageOf({ affiliate }, { affiliate })));
    const [third, fourth] = recordsOf(parsePage(pageOf({ affiliate }, { affiliate: changed })));
    expect(first?.['affiliate']).toEqual({ id: 'a1', processor_account_id: 'acct_1', visitors: 1 });
    expect(second?.['affiliate']).toBe(first?.['affiliate']);
    expect(third?.['affiliate']).toBe(first?.['affiliate']);
    expect(fourth?.['affiliate']).toEqual({ id: 'a1', processor_account_id: 'acct_1', visitors: 2 });
  });

  it('are remembered up to a size, of which the oldest are forgotten first', () => {
    const parsePage = makeParsePage();
    const name = 'x'.repeat(1_000_000);
    const parseOne = (number: number) => {
      const affiliate = { id: `a${number}`, name };
      const [one] = recordsOf(parsePage(pageOf({ affiliate })));
      expect(one).toEqual({ affiliate });
      return one?.['affiliate'];
    };
    const made = Array.from({ length: 20 }, (_, number) => parseOne(number));
    expect(parseOne(19)).toBe(made[19]);
    expect(parseOne(5)).toBe(made[5]);
    expect(parseOne(0)).not.toBe(made[0]);
  });

  it('that are no UTF-8 are refused, in what repeats and beside it', () => {
    const parsePage = makeParsePage();
    const whole = pageOf({ affiliate: { id: 'a1', name: '§' }, name: '§' });
    for (let at = whole.indexOf('§'); at >= 0; at = whole.indexOf('§', at + 1)) {
      const damaged = Buffer.from(whole);
      damaged[at] = 0xff;
      expect(() => parsePage(damaged)).toThrow(TypeError);
    }
    expect(recordsOf(parsePage(whole))).toEqual([{ affiliate: { id: 'a1', name: '§' }, name: '§' }]);
  });
});
