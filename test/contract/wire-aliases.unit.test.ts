// Not vitest's own equality: it takes a field named `constructor` for the object's class.
import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toContractSpelling, WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';
import { buildAffiliate, buildCommission, buildReferral } from '../mirror/build-records.ts';
import { affiliates, commissions, inLiveSpelling, referrals } from './arbitrary-records.ts';

describe('the contract’s spelling', () => {
  it.each([...WIRE_ALIASES])('takes %s for %s, whatever the value', (live, neutral) => {
    for (const value of ['x', '', null])
      expect(toContractSpelling({ [live]: value })).toEqual({ [neutral]: value });
  });

  it('is reached from the live one in every nested resource', () => {
    const any = fc.oneof(affiliates, referrals, commissions);
    fc.assert(
      fc.property(any, (record) => {
        deepStrictEqual(toContractSpelling(inLiveSpelling(record)), record);
      }),
      {
        examples: [
          [buildReferral({ affiliate: null, customer: null })],
          [buildReferral({ affiliate: buildAffiliate({ campaign: null, links: [] }) })],
          [buildCommission({ constructor: { name: 'x' } })],
        ],
      },
    );
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

  it.each([null, undefined, 7, 'stripe_customer_id', true])('leaves %j alone', (value) => {
    expect(toContractSpelling(value)).toBe(value);
  });
});
