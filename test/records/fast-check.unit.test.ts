// The fast check against its schemas: what it passes, they pass.

import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LOAD_ORDER, type MirroredTable } from '../../src/records/mirrored-tables.ts';
import { CUSTOMER_FIELDS, RECORD_KINDS } from '../../src/records/record-kinds.ts';
import { findUnstorable } from '../../src/records/unstorable.ts';
import {
  affiliates,
  campaigns,
  commissions,
  links,
  referrals,
  sales,
  type WireRecord,
} from '../contract/arbitrary-records.ts';
import { mutated, ODD_VALUES } from '../contract/mutated-records.ts';
import {
  buildAffiliate,
  buildCampaign,
  buildCommission,
  buildLink,
  buildReferral,
  buildSale,
} from '../mirror/build-records.ts';
import { sized } from '../support/sizes.ts';

const RECORDS: Readonly<Record<MirroredTable, Arbitrary<WireRecord>>> = {
  campaigns,
  affiliates,
  links,
  referrals,
  sales,
  commissions,
};

const BUILDERS: Readonly<Record<MirroredTable, (fields?: object) => object>> = {
  campaigns: buildCampaign,
  affiliates: buildAffiliate,
  links: buildLink,
  referrals: buildReferral,
  sales: buildSale,
  commissions: buildCommission,
};

const MANY = { numRuns: sized(60, 300) };

/** The slow path: the schema accepts it, and the fields that the kind knows hold no text that Postgres cannot. */
function fits(table: MirroredTable, record: unknown): boolean {
  return (
    RECORD_KINDS[table].schema.safeParse(record).success && findUnstorable(known(table, record)) === null
  );
}

/** What the check looks at: the record without its nested records, and without what the contract does not know. */
function known(table: MirroredTable, record: unknown): unknown {
  if (!isObject(record)) return record;
  const own = pick(record, [...RECORD_KINDS[table].ownFields]);
  const { customer } = own;
  return isObject(customer) ? { ...own, customer: pick(customer, CUSTOMER_FIELDS) } : own;
}

function pick(record: WireRecord, fields: readonly string[]): WireRecord {
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.includes(field)));
}

function isObject(value: unknown): value is WireRecord {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Text that the fast check may leave to the slow path, though most of it is in order. */
function holdsSurrogates(table: MirroredTable, record: unknown): boolean {
  return /[\ud800-\udfff]|\\ud[89a-f]/.test(JSON.stringify(known(table, record)) ?? '');
}

function expectTheSame(table: MirroredTable, record: unknown): void {
  const isPlain = RECORD_KINDS[table].isPlain(record);
  if (isPlain || !holdsSurrogates(table, record)) {
    expect({ record, isPlain }).toEqual({ record, isPlain: fits(table, record) });
  }
}

describe.each(LOAD_ORDER)('of %s', (table) => {
  const { isPlain } = RECORD_KINDS[table];

  test('a mutated record passes exactly where it fits, what is left to the slow path excepted', () => {
    fc.assert(
      fc.property(mutated(RECORDS[table]), (record) => expectTheSame(table, record)),
      MANY,
    );
  });

  test('every record that the contract allows passes, what is left to the slow path excepted', () => {
    expect(isPlain(BUILDERS[table]())).toBe(true);
    fc.assert(
      fc.property(RECORDS[table], (record) => {
        expect(fits(table, record)).toBe(true);
        if (!holdsSurrogates(table, record)) expect(isPlain(record)).toBe(true);
      }),
      MANY,
    );
  });

  test('each field passes with each odd value exactly where it fits', () => {
    for (const field of RECORD_KINDS[table].ownFields) {
      for (const value of ODD_VALUES) expectTheSame(table, BUILDERS[table]({ [field]: value }));
    }
  });

  test('nothing passes that is no object', () => {
    for (const value of [null, undefined, 'text', 7, true, [], [BUILDERS[table]()]]) {
      expect(isPlain(value)).toBe(false);
    }
  });
});

const UUID = '0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e';

/** The same as examples: what each spelling is to zod and to Postgres, and so to the check. */
describe('of a referral', () => {
  test.each([
    { field: 'id', value: UUID.toUpperCase() },
    { field: 'id', value: '00000000-0000-0000-0000-000000000000' },
    { field: 'created_at', value: '2024-02-29T00:00:00Z' },
    { field: 'created_at', value: '0001-01-01T00:00:00Z' },
    { field: 'created_at', value: '2026-12-31T23:59:59.123456789Z' },
    { field: 'created_at', value: '2026-12-31T23:59:59+05:45' },
    { field: 'expires_at', value: null },
    { field: 'visits', value: Number.MAX_SAFE_INTEGER },
    { field: 'visits', value: -0 },
    { field: 'visits', value: 1e3 },
    { field: 'visits', value: undefined },
    { field: 'conversion_state', value: '' },
    { field: 'customer', value: {} },
    // What the contract does not know is looked at where it is kept.
    { field: 'customer', value: { odd: 'a\0b' } },
    { field: 'odd', value: '\ud800' },
    // And nested records as records of their own.
    { field: 'link', value: { id: 'no UUID' } },
  ])('$field may be $value', ({ field, value }) => {
    expect(RECORD_KINDS.referrals.isPlain(buildReferral({ [field]: value }))).toBe(true);
  });

  test.each([
    { field: 'id', value: UUID.replaceAll('-', '') },
    { field: 'id', value: `${UUID}\n` },
    { field: 'id', value: [UUID] },
    { field: 'created_at', value: '2026-02-30T00:00:00Z' },
    { field: 'created_at', value: '2026-02-29T00:00:00Z' },
    { field: 'created_at', value: '2026-01-01T24:00:00Z' },
    { field: 'created_at', value: '0000-01-01T00:00:00Z' },
    { field: 'created_at', value: '2026-01-01T00:00:00+16:00' },
    { field: 'created_at', value: '2026-01-01T00:00:00' },
    { field: 'created_at', value: '2026-01-01T00:00:00Z\n' },
    { field: 'created_at', value: null },
    { field: 'created_at', value: undefined },
    { field: 'visits', value: 1.5 },
    { field: 'visits', value: 2 ** 53 },
    { field: 'visits', value: -(2 ** 53) },
    { field: 'visits', value: '3' },
    { field: 'visits', value: null },
    { field: 'conversion_state', value: 'a\0b' },
    { field: 'conversion_state', value: 'a\ud800' },
    { field: 'conversion_state', value: '\udc00b' },
    { field: 'conversion_state', value: null },
    { field: 'customer', value: [] },
    { field: 'customer', value: { name: '\0' } },
    { field: 'customer', value: { name: 7 } },
  ])('$field may not be $value', ({ field, value }) => {
    const record = buildReferral({ [field]: value });
    expect(RECORD_KINDS.referrals.isPlain(record)).toBe(false);
    expect(fits('referrals', record)).toBe(false);
  });

  test('each day of a month may be one where the calendar has it', () => {
    for (const year of [2023, 2024]) {
      for (let month = 0; month <= 13; month += 1) {
        for (let day = 0; day <= 32; day += 1) {
          const date = [year, month, day].map((part) => String(part).padStart(2, '0')).join('-');
          expectTheSame('referrals', buildReferral({ created_at: `${date}T12:00:00Z` }));
        }
      }
    }
  });

  test('a character beyond the basic plane is left to the slow path, which takes it', () => {
    const record = buildReferral({ conversion_state: '🦊' });
    expect(RECORD_KINDS.referrals.isPlain(record)).toBe(false);
    expect(fits('referrals', record)).toBe(true);
  });
});
