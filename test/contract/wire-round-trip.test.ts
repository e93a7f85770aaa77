// Whatever the contract allows comes out of the client as it went on the wire: every resource, in both spellings,
// with unknown fields.

import { deepStrictEqual } from 'node:assert/strict';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { commissionSchema } from '../../src/contract/commission.ts';
import { LISTED_RESOURCES, RESOURCES } from '../../src/contract/resources.ts';
import { makeClient } from '../api/make-client.ts';
import { rawAnswer, startRawProgram } from '../api/raw-program.ts';
// Not vitest's own equality: it takes a field named `constructor` for the object's class.
import { buildAffiliate, buildCampaign, buildCommission, buildReferral } from '../mirror/build-records.ts';
import { sized } from '../support/sizes.ts';
import {
  affiliates,
  campaigns,
  commissions,
  inLiveSpelling,
  referrals,
  type WireRecord,
} from './arbitrary-records.ts';

const ARBITRARY = { affiliates, referrals, campaigns, commissions };
const BUILD = {
  affiliates: buildAffiliate,
  referrals: buildReferral,
  campaigns: buildCampaign,
  commissions: buildCommission,
};
const SPELLINGS = [
  { spelling: 'the contract’s', spell: (value: unknown) => value },
  { spelling: 'the live', spell: inLiveSpelling },
];
const PAGES = { numRuns: sized(20, 200) };
/** Unknown fields that every object has already, under names that are not its own. */
const INHERITED = { constructor: { name: 'x' }, toString: null, hasOwnProperty: 1 };

/** Returns a client of a program that answers everything with what `serve` was last called with. */
async function startServing() {
  let body = '';
  const program = await startRawProgram((socket) => socket.write(rawAnswer('200 OK', body)));
  const { api } = makeClient({ url: program.url, attempts: { most: 1 } });
  return {
    api,
    serve: (json: unknown) => {
      body = JSON.stringify(json);
    },
  };
}

function envelope(data: readonly unknown[]) {
  const pagination = {
    previous_page: null,
    current_page: 1,
    next_page: null,
    count: data.length,
    limit: 100,
    total_pages: 1,
    total_count: data.length,
  };
  return { pagination, data };
}

describe.each(SPELLINGS)('in $spelling spelling', ({ spell }) => {
  it.each(LISTED_RESOURCES)('a list of %s arrives as it was sent, and fits its schema', async (resource) => {
    const { api, serve } = await startServing();
    const { schema }: { schema: z.ZodType } = RESOURCES[resource];
    const records: Arbitrary<WireRecord[]> = fc.array(ARBITRARY[resource], { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(records, async (sent) => {
        serve(envelope(sent.map(spell)));
        const { data, pagination } = await api.list(resource, { page: 1, limit: 100 });
        expect(pagination.count).toBe(sent.length);
        deepStrictEqual(data, sent);
        deepStrictEqual(
          data.map((record) => schema.parse(record)),
          sent,
        );
      }),
      { ...PAGES, examples: [[[]], [[{ ...BUILD[resource](), ...INHERITED }]]] },
    );
  });

  it('a commission arrives as it was sent', async () => {
    const { api, serve } = await startServing();
    await fc.assert(
      fc.asyncProperty(commissions, async (sent) => {
        serve(spell(sent));
        const { commission } = await api.getCommission(String(sent['id']));
        deepStrictEqual(commission, sent);
        deepStrictEqual(commissionSchema.parse(commission), sent);
      }),
      { ...PAGES, examples: [[buildCommission()], [buildCommission(INHERITED)]] },
    );
  });
});

describe('a page', () => {
  it('with records that do not fit passes them on, and the others too', async () => {
    const { api, serve } = await startServing();
    const strange = [null, 7, 'text', [], {}, { id: 5 }, [{ stripe_customer_id: 'cus_1' }]];
    serve(envelope(strange));
    const { data } = await api.list('affiliates', { page: 1, limit: 100 });
    expect(data).toEqual([...strange.slice(0, -1), [{ processor_customer_id: 'cus_1' }]]);
  });

  it('keeps a field named __proto__ out of every prototype', async () => {
    const program = await startRawProgram((socket) => {
      const text = JSON.stringify(envelope([])).replace(
        '"data":[]',
        '"data":[{"__proto__":{"stripe_customer_id":1}}]',
      );
      socket.write(rawAnswer('200 OK', text));
    });
    const { api } = makeClient({ url: program.url });
    const { data } = await api.list('affiliates', { page: 1, limit: 100 });
    expect(Object.getPrototypeOf(data[0])).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, 'processor_customer_id')).toBe(false);
  });
});
