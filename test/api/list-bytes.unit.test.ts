// The text of a list read record by record against the whole of it parsed: what the first reads, the second reads alike.

import { randomUUID } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readListBytes } from '../../src/api/list-bytes.ts';
import { listEnvelopeSchema } from '../../src/contract/answer-bodies.ts';
import { parseJson } from '../../src/contract/parse-json.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import { toContractSpelling, WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';
import { makeDriftWatch } from '../../src/records/drift-watch.ts';
import { type FormReader, makeFormReader } from '../../src/records/form-reader.ts';
import { makeLoadedCache } from '../../src/records/loaded-cache.ts';
import { isPlainRecord, parsedRecord } from '../../src/records/plain-record.ts';
import { readPages } from '../../src/records/read-page.ts';
import { usableId } from '../../src/records/read-record.ts';
import type { WireRecord } from '../contract/arbitrary-records.ts';
import { LISTED_RECORDS } from '../contract/listed-records.ts';
import { mutated, ODD_VALUES } from '../contract/mutated-records.ts';
import { buildAffiliate, buildLink, buildReferral } from '../mirror/build-records.ts';
import { inCapitals } from '../support/in-capitals.ts';
import { sized } from '../support/sizes.ts';

const PAGES = sized(150, 3000);
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
  readonly forms: FormReader;
  readonly plain: ReturnType<typeof makeDeps>;
  readonly parsed: ReturnType<typeof makeDeps>;
}

const makeDeps = () => ({ cache: makeLoadedCache(), drift: makeDriftWatch(), personalData: null });

function makeBoth(resource: ListedResource): Both {
  const plain = makeDeps();
  return { forms: makeFormReader(resource, plain.cache), plain, parsed: makeDeps() };
}

/** Reads the text both ways, checks that both say the same, and returns how many records were read by their form. */
function expectTheSame({ forms, plain, parsed }: Both, resource: ListedResource, text: string): number {
  const listed = readListBytes(Buffer.from(text), forms);
  const whole = parsePage(text);
  if (listed === null) return 0;
  const { data, pagination } = listed;
  expect({ text, pagination }).toEqual({
    text,
    pagination: (parseJson(text) as Both & typeof listed).pagination,
  });
  expect(data.map(parsedRecord)).toEqual(whole);
  expect(data.map(usableId)).toEqual(whole?.map(usableId));
  const read = readPages(plain, resource, [{ observedAt: OBSERVED_AT, records: data }]);
  expect(read).toEqual(readPages(parsed, resource, [{ observedAt: OBSERVED_AT, records: whole ?? [] }]));
  expect(plain.drift.findings()).toEqual(parsed.drift.findings());
  return data.filter(isPlainRecord).length;
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
    .tuple(
      fc.nat(),
      fc.constantFrom(
        '"',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '\\',
        '0',
        '-',
        '.',
        '\0',
        '\u00a0',
        '\n',
        'null',
        '1e5',
      ),
    )
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

/** Records of which most are of a form that can be read: usual ones, with a value or two of any others. */
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
  test('is read by the forms of its records as JSON.parse and the schemas read it, however it is spelled', () => {
    let byForm = 0;
    fc.assert(
      fc.property(
        fc.array(usual(records, build), { maxLength: 4 }),
        fc.array(respelled, { maxLength: 4 }),
        (given, spellings) => {
          const both = makeBoth(resource);
          const text = pageText(given);
          // The first page shows the forms; on the next ones the records are spelled in other ways.
          for (const respell of [same, same, ...spellings]) {
            // No answer has half of a surrogate pair: it is UTF-8.
            byForm += expectTheSame(both, resource, respell(text).toWellFormed());
          }
        },
      ),
      { numRuns: PAGES },
    );
    // Otherwise nothing above was tested.
    expect(byForm).toBeGreaterThan(PAGES);
  });

  test('is read so with each odd value in each field, behind a record without', () => {
    const both = makeBoth(resource);
    for (const field of Object.keys(build())) {
      const odd = ODD_VALUES.flatMap((value) => [build({ [field]: value }), build()]);
      expectTheSame(both, resource, pageText([build(), ...odd]));
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
      expectTheSame(both, resource, text);
    }
  });

  test('is read by the forms alone once they are known, whatever space is between', () => {
    for (const indent of [0, 1, '\t']) {
      const both = makeBoth(resource);
      expect(expectTheSame(both, resource, pageText([build()], indent))).toBe(0);
      expect(expectTheSame(both, resource, pageText([build(), build(), build()], indent))).toBe(3);
    }
  });
});

describe('a list of referrals', () => {
  const affiliate = buildAffiliate();
  const link = buildLink();
  const build = (fields: object = {}) => buildReferral({ affiliate, link, ...fields });

  /** Returns how many of the records were read by their form on a page behind these, which show the forms. */
  function readBehind(shown: readonly object[], records: readonly object[]): number {
    const both = makeBoth('referrals');
    expectTheSame(both, 'referrals', pageText(shown));
    return expectTheSame(both, 'referrals', pageText(records));
  }

  test('whose visitors have no customer is read as it is, whichever of them comes first', () => {
    const visitor = () => build({ customer: null });
    expect(readBehind([visitor()], [visitor(), build(), visitor()])).toBe(2);
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

  test('of far years has their microseconds', () => {
    const far = ['2254-12-31T23:59:59.999999Z', '2255-06-05T23:47:34.740993Z', '2999-12-31T23:59:59.999999Z'];
    expect(
      readBehind(
        [build()],
        far.map((expires_at) => build({ expires_at })),
      ),
    ).toBe(far.length);
  });

  test('with both spellings of a field, in the referral or in its affiliate, has both', () => {
    const spellings = { stripe_account_id: 'one', processor_account_id: 'other' };
    expect(readBehind([build(spellings)], [build(spellings)])).toBe(0);
    const odd = build({ affiliate: { ...affiliate, ...spellings } });
    expect(readBehind([build(), odd], [odd, build()])).toBe(2);
  });

  test('that lacks a field which the contract promises shows how often it was missed', () => {
    const without = () => build({ visits: undefined });
    expect(readBehind([without()], [without(), without()])).toBe(2);
  });

  test('whose affiliate has two identifiers is of the second, as JSON.parse has it', () => {
    const both = makeBoth('referrals');
    const text = pageText([build(), build()]);
    expectTheSame(both, 'referrals', text);
    const twice = `"affiliate":{"id":"${affiliate.id}","id":"${randomUUID()}",`;
    expectTheSame(both, 'referrals', text.replaceAll(`"affiliate":{"id":"${affiliate.id}",`, twice));
  });

  test('with fields that the contract does not know is read by its form where their values are plain', () => {
    const plain = ['', 'ü🦊', 0, -7, 999_999_999_999_999, true, null];
    const records = plain.map((one, index) => build({ odd_1: one, odd_2: index }));
    for (const shown of records) expect(readBehind([shown], records)).toBe(records.length);
    for (const other of ['\n', '\0', '\\', 1.5, 1e15, 1e300, [], {}, { a: 1 }]) {
      expect(readBehind([build({ odd_1: 1 })], [build({ odd_1: other }), build({ odd_1: 2 })])).toBe(1);
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
    for (const name of names) expect(readNamed(name)).toBe(1);
    for (const escaped of ['"', '\\', '\n']) expect(readNamed(escaped)).toBe(0);
  });

  test('with a referral twice, once otherwise, has what comes last', () => {
    const referral = build();
    expect(readBehind([build()], [referral, { ...referral, visits: 3 }])).toBe(2);
    expect(readBehind([build()], [referral, { ...referral, visits: undefined }])).toBe(1);
    expect(readBehind([build()], [{ ...referral, visits: undefined }, referral])).toBe(1);
  });

  test('whose nested affiliate does not fit has the referral refused, with all that came', () => {
    const odd = build({ affiliate: { ...affiliate, id: randomUUID(), visitors: 'many' } });
    expect(readBehind([build()], [odd, build(), odd])).toBe(3);
  });
});
