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

  it('is not forced on an object that is no resource', () => {
    const foreign = { metadata: { stripe_customer_id: 'x' }, commission_stats: { paypal_email: {} } };
    expect(toContractSpelling(foreign)).toBe(foreign);
  });

  it.each([null, undefined, 7, 'stripe_customer_id', true])('leaves %j alone', (value) => {
    expect(toContractSpelling(value)).toBe(value);
  });
});
