// Pages decoded from their bytes, most of their records the fast way, against the same pages parsed and decoded the
// plain way: both make the same rows of them, refuse the same records and notice the same drift, however the pages are
// spelled.

import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listEnvelopeSchema } from '../../src/contract/answer-bodies.ts';
import { parseJson } from '../../src/contract/parse-json.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import { toContractSpelling, WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';
import { type Decoding, decodePage } from '../../src/decode/decode-page.ts';
import { makeDriftWatch } from '../../src/decode/drift-watch.ts';
import { makeFastReader } from '../../src/decode/fast/fast-reader.ts';
import { PLAIN } from '../../src/decode/treatment.ts';
import type { WireRecord } from '../contract/arbitrary-records.ts';
import { LISTED_RECORDS } from '../contract/listed-records.ts';
import { mutated, ODD_VALUES } from '../contract/mutated-records.ts';
import { buildAffiliate, buildLink, buildReferral } from '../mirror/build-records.ts';
import { inCapitals } from '../support/in-capitals.ts';
import { sized } from '../support/sizes.ts';

const PAGES = sized(100, 1000);
const OBSERVED_AT = '2026-07-01T00:00:00.000001Z';

/** As a sync asks for them: a referral with its affiliate. */
const GIVEN = LISTED_RECORDS.map((listed) =>
  listed.resource === 'referrals'
    ? {
        ...listed,
        build: (fields: object = {}) =>
          listed.build({ affiliate: buildAffiliate(), coupon: null, ...fields }),
      }
    : listed,
);

const PAGINATION = {
  previous_page: null,
  current_page: 1,
  next_page: null,
  count: 1,
  limit: 100,
  total_pages: 1,
  total_count: 1,
};

function pageText(records: readonly unknown[], indent: number | string = 0): string {
  return JSON.stringify({ pagination: PAGINATION, data: records }, null, indent);
}

/** What JSON.parse and the schema of the envelope make of the text; null where it is no list. */
function parsePage(text: string): readonly unknown[] | null {
  const envelope = listEnvelopeSchema.safeParse(parseJson(text));
  return envelope.success ? envelope.data.data.map(toContractSpelling) : null;
}

interface Both {
  /** Of bytes; the cache remembers nothing, so that both make rows of what is nested. */
  readonly fast: Decoding & { readonly countFast: () => number };
  readonly plain: Decoding;
  /** A text was no list: what had been read of it was noticed. */
  isSpoiled: boolean;
}

function makeBoth(resource: ListedResource): Both {
  const drift = makeDriftWatch();
  let count = 0;
  const nothing = { find: () => undefined, note() {}, clear() {} };
  const read = makeFastReader(resource, nothing, drift);
  const fast = {
    cache: nothing,
    read: (...given: Parameters<typeof read>) => {
      const record = read(...given);
      if (record !== null) count += 1;
      return record;
    },
  };
  const countFast = () => {
    const counted = count;
    count = 0;
    return counted;
  };
  return {
    fast: { resource, drift, treatment: PLAIN, fast, countFast },
    plain: { resource, drift: makeDriftWatch(), treatment: PLAIN, fast: null },
    isSpoiled: false,
  };
}

/** Decodes the text both ways, checks that both say the same, and returns how many records were read the fast way. */
function expectTheSame(both: Both, text: string): number {
  const { fast, plain } = both;
  const listed = decodePage(fast, { bytes: Buffer.from(text), observedAt: OBSERVED_AT });
  const count = fast.countFast();
  if (listed === null) both.isSpoiled = true;
  if (listed === null) return 0;
  const { pagination } = parseJson(text) as { pagination: object };
  expect({ text, pagination: listed.pagination }).toEqual({ text, pagination });
  const parsed = decodePage(plain, [{ records: parsePage(text) ?? [], observedAt: OBSERVED_AT }]);
  expect({ text, page: listed.data }).toEqual({ text, page: parsed });
  if (!both.isSpoiled) expect(fast.drift?.findings()).toEqual(plain.drift?.findings());
  return count;
}

const same = (text: string) => text;

/** The same JSON, spelled in another way, or no JSON any more. */
const respelled: Arbitrary<(text: string) => string> = fc.oneof(
  fc.constant(same),
  // As JSON.stringify, Python and Postgres spell it.
  fc.constantFrom<(text: string) => string>(
    (text) => JSON.stringify(JSON.parse(text), null, 1),
    (text) => JSON.stringify(JSON.parse(text), null, '\t'),
    (text) => text.replaceAll('","', '", "').replaceAll('":', '": '),
  ),
  // Other order of the fields, everywhere.
  fc.constantFrom<(text: string) => string>(
    (text) => JSON.stringify(reordered(JSON.parse(text), (fields) => fields.reverse())),
    (text) =>
      JSON.stringify(
        reordered(JSON.parse(text), (fields) => fields.sort(([one], [other]) => (one < other ? -1 : 1))),
      ),
  ),
  // Aliases, in place of the contract's names and beside them.
  fc.constantFrom<(text: string) => string>(
    (text) =>
      [...WIRE_ALIASES].reduce(
        (spelled, [alias, name]) => spelled.replaceAll(`"${name}":`, `"${alias}":`),
        text,
      ),
    (text) =>
      [...WIRE_ALIASES].reduce(
        (spelled, [alias, name]) => spelled.replace(`"${name}":`, `"${alias}":"both","${name}":`),
        text,
      ),
  ),
  // Identifiers in capitals: all of them, or every second or third.
  fc
    .integer({ min: 1, max: 3 })
    .map((step) => (text: string) => inCapitals(text, (place) => place % step === 0)),
  // An escape, a name twice, a text cut off, a character too much or too few.
  fc.nat().map((at) => (text: string) => {
    const letters = [...text.matchAll(/[a-z]/g)];
    const place = letters[at % Math.max(1, letters.length)]?.index ?? 0;
    const escaped = `\\u${text.charCodeAt(place).toString(16).padStart(4, '0')}`;
    return text.slice(0, place) + escaped + text.slice(place + 1);
  }),
  fc
    .tuple(fc.nat(), fc.constantFrom('"id":"x",', '"visits":7,', '"affiliate":null,'))
    .map(([at, twice]) => (text: string) => {
      const objects = [...text.matchAll(/\{"/g)];
      const place = (objects[at % Math.max(1, objects.length)]?.index ?? 0) + 1;
      return text.slice(0, place) + twice + text.slice(place);
    }),
  fc.nat().map((at) => (text: string) => text.slice(0, at % text.length)),
  fc
    .tuple(fc.nat(), fc.constantFrom(...'"{}[],:\\0-.\0\u00a0\n', 'null', '1e5'))
    .map(([at, added]) => (text: string) => {
      const place = at % text.length;
      return text.slice(0, place) + added + text.slice(place);
    }),
  fc.nat().map((at) => (text: string) => {
    const place = at % text.length;
    return text.slice(0, place) + text.slice(place + 1);
  }),
);

function reordered(value: unknown, order: (fields: [string, unknown][]) => [string, unknown][]): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, order));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    order(Object.entries(value)).map(([name, inner]) => [name, reordered(inner, order)]),
  );
}

/** Records of which most can be read the fast way: usual ones, with a value or two of any others. */
function usual(records: Arbitrary<WireRecord>, build: (fields?: object) => object): Arbitrary<unknown> {
  const built = fc.constant(null).map(() => build() as WireRecord);
  const withOne = fc.tuple(records, fc.nat()).map(([fields, place]) => {
    const entries = Object.entries(fields);
    const [name, value] = entries[place % entries.length] ?? [];
    return build(name === undefined ? {} : { [name]: value });
  });
  return fc.oneof({ weight: 2, arbitrary: built }, withOne, mutated(built), mutated(records));
}

describe.each(GIVEN)('a list of $resource', ({ resource, records, build }) => {
  test('is decoded the fast way as the plain way decodes it, however it is spelled', () => {
    let countFast = 0;
    fc.assert(
      fc.property(
        fc.array(usual(records, build), { maxLength: 4 }),
        fc.array(respelled, { maxLength: 4 }),
        (given, spellings) => {
          const both = makeBoth(resource);
          const text = pageText(given);
          // The members are met on the first page; on the next ones the records are spelled in other ways.
          for (const respell of [same, same, ...spellings]) {
            // No answer has half of a surrogate pair: it is UTF-8.
            countFast += expectTheSame(both, respell(text).toWellFormed());
          }
        },
      ),
      { numRuns: PAGES },
    );
    // Otherwise nothing above was tested.
    expect(countFast).toBeGreaterThan(PAGES);
  });

  test('is decoded so with each odd value in each field, behind a record without', () => {
    const both = makeBoth(resource);
    for (const field of Object.keys(build())) {
      const odd = ODD_VALUES.flatMap((value) => [build({ [field]: value }), build()]);
      expectTheSame(both, pageText([build(), ...odd]));
    }
  });

  test('is left to JSON.parse, or read the same, where its envelope is not as foreseen', () => {
    const both = makeBoth(resource);
    const [pagination, records] = [JSON.stringify(PAGINATION), JSON.stringify([build(), build()])];
    const other = JSON.stringify({ ...PAGINATION, total_count: 2 });
    for (const text of [
      `{"data":${records},"pagination":${pagination}}`,
      `{"pagination":${pagination},"data":${records},"pagination":${other}}`,
      `{"pagination":${pagination},"data":[],"data":${records}}`,
      `{"pagination":${pagination},"data":${records},"data":[]}`,
      `{"pagination":${pagination},"data":${records},"more":1}`,
      `{"pagination":${pagination},"data":[]}`,
      ` {"pagination":${pagination},"data":${records}}\n`,
      `\u00a0{"pagination":${pagination},"data":${records}}`,
      `{"pagination":${pagination},"data":${records}} x`,
      `{"pagination":${pagination},"data":${records.replace(/]$/, ',]')}}`,
      `{"pagination":${pagination},"data":${records.replace(/}]$/, ']')}}`,
      `{"pagination":${pagination},"data":${records.replace('},{', '};{')}}`,
      `{"pagination":{},"data":${records}}`,
      `{"pagination":${pagination.replace('{', '{"größe":"ü",')},"data":${records}}`,
      `{"pagination":null,"data":${records}}`,
      `{"data":${records}}`,
    ]) {
      expectTheSame(both, text);
    }
  });

  test('is decoded the fast way alone, whatever space is between', () => {
    for (const indent of [0, 1, '\t']) {
      const both = makeBoth(resource);
      expect(expectTheSame(both, pageText([build()], indent))).toBe(1);
      expect(expectTheSame(both, pageText([build(), build(), build()], indent))).toBe(3);
    }
  });
});

describe('a list of referrals', () => {
  const affiliate = buildAffiliate();
  const link = buildLink();
  const build = (fields: object = {}) => buildReferral({ affiliate, link, ...fields });

  /** Returns how many of the records were read the fast way on a page behind these. */
  function readBehind(shown: readonly object[], records: readonly object[]): number {
    const both = makeBoth('referrals');
    expectTheSame(both, pageText(shown));
    return expectTheSame(both, pageText(records));
  }

  test('whose visitors have no customer is read as it is, whichever of them comes first', () => {
    const visitor = () => build({ customer: null });
    expect(readBehind([visitor()], [visitor(), build(), visitor()])).toBe(3);
    expect(readBehind([build()], [visitor(), build(), visitor()])).toBe(3);
  });

  test('where an affiliate or a link changed, or a link is of another affiliate now, has the new one', () => {
    const changed = { ...affiliate, visitors: 4 };
    expect(
      readBehind([build(), build()], [build({ affiliate: changed }), build(), build({ affiliate: changed })]),
    ).toBe(3);
    expect(readBehind([build(), build()], [build({ link: { ...link, leads: 3 } }), build()])).toBe(2);
    expect(readBehind([build(), build()], [build({ affiliate: buildAffiliate() }), build()])).toBe(2);
  });

  test('whose affiliates have identifiers that begin and end alike has each with its own', () => {
    const alike = ['1111', '2222'].map((middle) =>
      buildAffiliate({ id: `0b1a6d1e-${middle}-4a58-9b7a-0d3f3b1c2d4e`, first_name: middle }),
    );
    const pair = () => alike.map((one) => build({ affiliate: one }));
    expect(readBehind(pair(), [...pair(), ...pair()])).toBe(4);
  });

  test('with fields that the contract does not know is decoded the fast way if Postgres can store them', () => {
    const plain = ['', 'ü🦊', 0, -7, 999_999_999_999_999, true, null];
    const records = plain.map((one, index) => build({ odd_1: one, odd_2: index }));
    for (const shown of records) expect(readBehind([shown], records)).toBe(records.length);
    for (const other of ['\n', '\0', '\\', 1.5, 1e15, 1e300, [], {}, { a: 1 }]) {
      expect(readBehind([build({ odd_1: 1 })], [build({ odd_1: other }), build({ odd_1: 2 })])).toBe(
        other === '\0' ? 1 : 2,
      );
    }
    const readNamed = (name: string) => {
      const named = build(JSON.parse(`{${JSON.stringify(name)}: 1}`) as object);
      return readBehind([named], [named]);
    };
    const names = [
      '__proto__',
      'constructor',
      'customer_name',
      'affiliate_id',
      '',
      '.',
      'a-b',
      '(',
      'ü',
      '1',
    ];
    for (const name of names) expect(readNamed(name)).toBe(name in {} ? 0 : 1);
    for (const escaped of ['"', '\\', '\n']) expect(readNamed(escaped)).toBe(0);
  });
});
