import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { makeDecoding } from '../../src/decode/decode-page.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  buildAffiliate,
  buildCampaign,
  buildCommission,
  buildLink,
  buildReferral,
  buildSale,
} from './build-records.ts';
import { lastStamp } from './change-stamps.ts';
import { at, counts, load, rowsOf } from './load.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

const nothing = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };

test('a link gets its affiliate from its place: under an affiliate, or in a referral beside one', async () => {
  const [own, shared] = [buildLink(), buildLink()];
  const affiliate = buildAffiliate({ links: [own] });
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records: [affiliate] }] });
  await load(db, {
    resource: 'referrals',
    pages: [{ observedAt: at(2), records: [buildReferral({ link: shared, affiliate })] }],
  });
  const owners = (await rowsOf(db, 'links')).map(({ affiliate_id }) => affiliate_id);
  expect(owners).toEqual([affiliate.id, affiliate.id]);
});

test('loading the same pages again neither writes nor locks a row', async () => {
  const affiliates = Array.from({ length: 20 }, () => buildAffiliate());
  const records = Array.from({ length: 1000 }, (_, index) =>
    buildReferral({ affiliate: affiliates[index % 20], unheard_of: { deep: [index] } }),
  );
  const pages = [{ observedAt: at(1), records }];
  const run = await startRun(db, { resource: 'referrals', mode: 'full' });
  expect(counts(await load(db, { resource: 'referrals', pages }))).toEqual({
    ...nothing,
    seen: 1000,
    inserted: 1000,
  });
  const versions = () => sql`
    select xmin, ctid, id from referrals union all select xmin, ctid, id from affiliates
    union all select xmin, ctid, id from links union all select xmin, ctid, id from campaigns order by id`;
  const before = (await versions().execute(db)).rows;
  const history = await rowsOf(db, 'record_history' as never);
  const stamp = await lastStamp(db);
  const repeats = await load(db, { resource: 'referrals', pages: [{ observedAt: at(2), records }] });
  expect(counts(repeats)).toEqual({ ...nothing, seen: 1000, unchanged: 1000 });
  const seen = [{ observedAt: at(12), records }];
  const again = await load(db, { resource: 'referrals', runId: run.id, pages: seen });
  expect(counts(again)).toEqual({ ...nothing, seen: 1000, unchanged: 1000 });
  expect((await versions().execute(db)).rows).toEqual(before);
  expect((await sql`select xmax from referrals where xmax <> 0`.execute(db)).rows).toEqual([]);
  expect(await rowsOf(db, 'record_history' as never)).toEqual(history);
  expect(await lastStamp(db)).toBe(stamp);
});

test('a read that changes nothing is not overwritten by older pages where it was asked to touch', async () => {
  const unpaid = buildCommission();
  const pages = (second: number, fields: object) => [
    { observedAt: at(second), records: [{ ...unpaid, ...fields }] },
  ];
  await load(db, { resource: 'commissions', pages: pages(1, { paid_at: at(0) }) });
  const changedAt = await lastStamp(db);
  const touched = await load(db, {
    resource: 'commissions',
    pages: pages(30, { paid_at: at(0) }),
    touch: true,
  });
  expect(counts(touched)).toEqual({ ...nothing, seen: 1, unchanged: 1 });
  await load(db, { resource: 'commissions', pages: pages(20, { paid_at: null }) });
  expect(await rowsOf(db, 'commissions')).toMatchObject([
    {
      paid_at: '2026-07-01T00:00:00Z',
      _changed_at: changedAt,
      _observed_at: '2026-07-01T00:00:30Z',
    },
  ]);
});

test('of single reads beside each other only those count as updated that changed something', async () => {
  const records = Array.from({ length: 4 }, () => buildCommission());
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records }] });
  const before = await rowsOf(db, 'commissions');
  // Rows are written in the order of their identifiers: first, in the middle and last nothing changes.
  const changedId = before[1]?.['id'];
  const changed = records.map((one) => (one.id === changedId ? { ...one, amount: 7 } : one));
  const result = await load(db, {
    resource: 'commissions',
    pages: [{ observedAt: at(2), records: [...changed, buildCommission()] }],
    touch: true,
  });
  expect(counts(result)).toEqual({ ...nothing, seen: 5, inserted: 1, updated: 1, unchanged: 3 });
  const stamp = await lastStamp(db);
  const after = await rowsOf(db, 'commissions');
  expect(after.filter((row) => row['_changed_at'] === stamp)).toHaveLength(2);
  expect(after.find(({ id }) => id === changedId)).toMatchObject({ amount: 7, _changed_at: stamp });
});

test('a nested partial view leaves alone what it does not carry', async () => {
  const stats = { currencies: { USD: { unpaid: { cents: 5 } } } };
  const full = buildAffiliate({ commission_stats: stats, state: 'active', badge: 'gold' });
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records: [full] }] });
  const partial = {
    id: full.id,
    created_at: full.created_at,
    updated_at: full.updated_at,
    visitors: 9,
    shoe: 43,
  };
  await load(db, {
    resource: 'referrals',
    pages: [{ observedAt: at(2), records: [buildReferral({ affiliate: partial })] }],
  });
  expect(await rowsOf(db, 'affiliates')).toMatchObject([
    {
      visitors: 9,
      first_name: 'Ada',
      state: 'active',
      commission_stats: stats,
      campaign_id: full.campaign.id,
      _extra: { badge: 'gold', shoe: 43 },
    },
  ]);
});

test('what a commission brings and is refused by itself is not stored by half', async () => {
  const odd = buildAffiliate({ campaign: buildCampaign(), links: 'none' });
  const commission = buildCommission({ sale: buildSale({ affiliate: odd }) });
  await load(db, {
    resource: 'commissions',
    decoding: makeDecoding('commissions'),
    pages: [{ observedAt: at(1), records: [commission] }],
  });
  const { rows: rejected } = await sql`select resource, record_id, reason from rejected_records`.execute(db);
  expect(rejected).toEqual([
    { resource: 'affiliates', record_id: odd.id, reason: 'sale.affiliate.links: expected array, got string' },
  ]);
  expect(await rowsOf(db, 'affiliates')).toEqual([]);
  expect((await rowsOf(db, 'campaigns')).map(({ id }) => id)).toEqual([commission.campaign.id]);
  expect(await rowsOf(db, 'sales')).toMatchObject([{ affiliate_id: odd.id }]);
});

test('what only an outdated record brought is loaded with the next one that brings it', async () => {
  const decoding = makeDecoding('referrals');
  const [affiliate, other] = [buildAffiliate({ campaign: buildCampaign() }), buildAffiliate()];
  const campaign = buildCampaign();
  const pages = [
    { observedAt: at(5), records: [buildReferral({ affiliate })] },
    { observedAt: at(3), records: [buildReferral({ affiliate: { ...affiliate, campaign } })] },
    { observedAt: at(6), records: [buildReferral({ affiliate: { ...other, campaign } })] },
  ];
  for (const page of pages) await load(db, { resource: 'referrals', decoding, pages: [page] });
  const campaigns = (await rowsOf(db, 'campaigns')).map(({ id }) => id);
  expect(campaigns.sort()).toEqual([affiliate.campaign.id, campaign.id].sort());
});

test('large and small loads of the same records beside each other neither deadlock nor lose a record', async () => {
  const sales = Array.from({ length: 60 }, () => buildSale());
  const commissions = sales.map((sale) => buildCommission({ sale }));
  const shuffled = (seed: number) => commissions.toSorted((a, b) => hash(a.id, seed) - hash(b.id, seed));
  const loads = Array.from({ length: 24 }, (_, index) =>
    load(db, {
      resource: 'commissions',
      pages: [
        {
          observedAt: at(index),
          records: shuffled(index)
            .slice(0, index % 3 === 0 ? 60 : 15)
            .map((record, place) => ({ ...record, amount: index, ...(place % 2 ? { state: 'due' } : {}) })),
        },
      ],
    }),
  );
  const results = await Promise.all(loads);
  const inserted = results.reduce((sum, result) => sum + result.inserted, 0);
  expect(inserted).toBe(60);
  expect((await rowsOf(db, 'commissions')).length).toBe(60);
});

function hash(id: string, seed: number): number {
  return [...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0) + seed) % 1_000_003, seed);
}

test('a nested record that the run has loaded is not loaded again, and a changed one is', async () => {
  const decoding = makeDecoding('referrals');
  const affiliate = buildAffiliate();
  const page = (second: number, nested: object) => ({
    observedAt: at(second),
    records: [buildReferral({ affiliate: nested })],
  });
  await load(db, { resource: 'referrals', decoding, pages: [page(1, affiliate)] });
  await sql`update affiliates set first_name = 'changed by hand'`.execute(db);
  await load(db, { resource: 'referrals', decoding, pages: [page(2, { ...affiliate })] });
  expect(await rowsOf(db, 'affiliates')).toMatchObject([{ first_name: 'changed by hand' }]);
  await load(db, { resource: 'referrals', decoding, pages: [page(3, { ...affiliate, visitors: 8 })] });
  expect(await rowsOf(db, 'affiliates')).toMatchObject([{ first_name: 'Ada', visitors: 8 }]);
});
