// Arbitrary records of every resource, as the contract allows them: every nullable field null at times, every
// field that may be absent absent at times, and fields that the contract does not know.

import fc, { type Arbitrary } from 'fast-check';
import {
  type Field,
  type Fields,
  type FieldType,
  isValue,
  type Nesting,
} from '../../src/contract/declare.ts';
import { RECORDS } from '../../src/contract/records.ts';
import { WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';

export type WireRecord = Record<string, unknown>;

/** The names that a field unknown to the contract cannot have: then it would be known, or another one's spelling. */
const KNOWN = new Set([
  ...[...WIRE_ALIASES].flat(),
  ...Object.values(RECORDS).flatMap(({ fields }) => Object.keys(fields)),
  ...Object.keys(RECORDS.referrals.fields.customer.fields),
  // Never a field of a record: it is what every JavaScript object has of its own.
  '__proto__',
]);

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const timestamp = fc
  .tuple(
    fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    }),
    fc.constantFrom(null, '', '.5', '.123456'),
    fc.constantFrom('Z', '+00:00', '-08:00', '+05:45', '+0000', '-0930', '+02'),
  )
  .map(([date, fraction, zone]) => {
    const day = date.toISOString();
    return fraction === null ? `${day.slice(0, 16)}${zone}` : `${day.slice(0, 19)}${fraction}${zone}`;
  });

const ANY: Readonly<Record<FieldType, Arbitrary<unknown>>> = {
  identifier: fc.uuid(),
  text,
  timestamp,
  integer: fc.maxSafeInteger(),
  number: fc.double({ min: 0, max: 100, noNaN: true }).map((share) => share || 0),
  boolean: fc.boolean(),
  json: fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2, noNullPrototype: true }),
};

const unknownFields = fc.dictionary(
  fc.oneof(fc.stringMatching(/^[a-z_]{1,12}$/), text).filter((name) => !KNOWN.has(name)),
  fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value))),
  { maxKeys: 2, noNullPrototype: true },
);

function anyOf(name: string, field: Field | Nesting): Arbitrary<unknown> {
  const value =
    field.type === 'list' ? fc.array(anyRecord(field.fields), { maxLength: 3 }) : anyOne(name, field);
  return field.schema.safeParse(null).success ? fc.option(value, { nil: null, freq: 4 }) : value;
}

function anyOne(name: string, field: Field | Nesting): Arbitrary<unknown> {
  if (!isValue(field)) return anyRecord(field.fields, field.type === 'part' ? [] : undefined);
  return OF_SHAPE[name] ?? ANY[field.type];
}

/** Returns any record with these fields, of which the required ones are always there. */
function anyRecord(fields: Fields, required: readonly string[] = requiredOf(fields)) {
  const known = fc.record(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, anyOf(name, field)])),
    { requiredKeys: [...required], noNullPrototype: true },
  );
  return fc.tuple(known, unknownFields).map(([own, unknown]): WireRecord => ({ ...unknown, ...own }));
}

function requiredOf(fields: Fields): string[] {
  const required = ['id', 'created_at', 'updated_at', ...('paid_at' in fields ? MONEY : [])];
  return required.filter((name) => name in fields);
}

const MONEY = ['amount', 'currency', 'paid_at'];

const money = fc.record(
  { cents: ANY.integer, currency_iso: text },
  { requiredKeys: [], noNullPrototype: true },
);
const PLAIN = { maxKeys: 2, noNullPrototype: true };
/** What is kept whole, as it was seen. */
const OF_SHAPE: Readonly<Record<string, Arbitrary<unknown>>> = {
  commission_stats: fc.record(
    {
      currencies: fc.dictionary(
        fc.constantFrom('USD', 'EUR', 'JPY'),
        fc.dictionary(text, money, PLAIN),
        PLAIN,
      ),
    },
    { noNullPrototype: true },
  ),
  coupon: fc.record(
    { id: ANY.identifier, token: text, external_id: text, archived: fc.boolean(), archived_at: timestamp },
    { requiredKeys: ['id'], noNullPrototype: true },
  ),
};

export const campaigns = anyRecord(RECORDS.campaigns.fields);
export const affiliates = anyRecord(RECORDS.affiliates.fields);
export const links = anyRecord(RECORDS.links.fields);
export const referrals = anyRecord(RECORDS.referrals.fields);
export const sales = anyRecord(RECORDS.sales.fields);
export const commissions = anyRecord(RECORDS.commissions.fields);
export const payouts = anyRecord(RECORDS.payouts.fields, [...requiredOf(RECORDS.payouts.fields), 'state']);

const LIVE_SPELLING = new Map([...WIRE_ALIASES].map(([live, neutral]) => [neutral, live]));

/** Returns the record as a live deployment spells it, with everything nested in it. */
export function inLiveSpelling(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inLiveSpelling);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [LIVE_SPELLING.get(name) ?? name, inLiveSpelling(inner)]),
  );
}
