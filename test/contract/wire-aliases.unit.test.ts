// Not vitest's own equality: it takes a field named `constructor` for the object's class.
import { deepStrictEqual } from 'node:assert/strict';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { type ListedResource, RESOURCES } from '../../src/contract/resources.ts';
import { toContractSpelling } from '../../src/contract/wire-aliases.ts';
import { buildAffiliate, buildCampaign, buildCommission, buildReferral } from '../mirror/build-records.ts';
import {
  affiliates,
  campaigns,
  commissions,
  inLiveSpelling,
  referrals,
  type WireRecord,
} from './arbitrary-records.ts';

const RECORDS: readonly [ListedResource, Arbitrary<WireRecord>, WireRecord][] = [
  ['affiliates', affiliates, buildAffiliate({ campaign: null, links: [] })],
  ['referrals', referrals, buildReferral({ affiliate: buildAffiliate(), customer: null })],
  ['campaigns', campaigns, buildCampaign({ toString: null })],
  ['commissions', commissions, buildCommission({ constructor: { name: 'x' } })],
];

describe('the contract’s spelling', () => {
  it.each(RECORDS)(
    'of %s is reached from the live one in all that is nested, and fits its schema',
    (...given) => {
      const [resource, records, built] = given;
      const { schema }: { schema: z.ZodType } = RESOURCES[resource];
      fc.assert(
        fc.property(records, (record) => {
          deepStrictEqual(toContractSpelling(inLiveSpelling(record)), record);
          // Fields that the contract does not know included.
          deepStrictEqual(schema.parse(record), record);
        }),
        { examples: [[built]] },
      );
    },
  );

  it('keeps a field named __proto__ out of every prototype', () => {
    const spelled = toContractSpelling(JSON.parse('{"__proto__":{"stripe_customer_id":1}}'));
    expect(Object.getPrototypeOf(spelled)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, 'processor_customer_id')).toBe(false);
  });

  it('is returned as it is, the same object, and never changes its argument', () => {
    fc.assert(
      fc.property(commissions, (record) => {
        expect(toContractSpelling(record)).toBe(record);
        const live = inLiveSpelling(record);
        const copy = structuredClone(live);
        toContractSpelling(live);
        deepStrictEqual(live, copy);
      }),
    );
  });

  it('is used where both are present, and the other one stays', () => {
    const both = { stripe_customer_id: 'live', processor_customer_id: 'neutral' };
    expect(toContractSpelling(both)).toEqual(both);
  });

  it('has the identifiers of records in lower case, and a customer’s as it came', () => {
    const [id, customer] = [
      '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11',
      { id: 'AB2A9F3E-6A5E-4C51-9D6A-3C1F0F6F2C11' },
    ];
    const nest = (id: string) => ({
      ...{ id, sale: { id, referral: { id, customer, affiliate: { id, links: [{ id }] } } } },
    });
    const came = nest(id.toUpperCase());
    expect(toContractSpelling(came)).toEqual(nest(id));
    expect(came).toEqual(nest(id.toUpperCase()));
    for (const other of [{ id: 'ABC' }, { id: 7 }, { coupon: { id: id.toUpperCase() } }])
      expect(toContractSpelling(other)).toBe(other);
  });

  it('is not forced on an object that is no resource', () => {
    const foreign = { metadata: { stripe_customer_id: 'x' }, commission_stats: { paypal_email: {} } };
    expect(toContractSpelling(foreign)).toBe(foreign);
  });
});
