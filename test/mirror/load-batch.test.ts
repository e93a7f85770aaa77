import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { makeLoadedCache } from '../../src/records/loaded-cache.ts';
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
  db = makeDatabase((await createTestDatabase()).pool);
});

const nothing = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };

test('a commission brings its sale, referral, link, affiliate and campaigns, each to its own table', async () => {
  const commission = buildCommission();
  const { sale, campaign } = commission;
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records: [commission] }] });
  expect(await rowsOf(db, 'commissions')).toEqual([
    {
      id: commission.id,
      created_at: '2026-01-02T03:04:05.678901Z',
      updated_at: '2026-01-02T03:04:05.678901Z',
      campaign_id: campaign.id,
      sale_id: sale.id,
      amount: 300,
      currency: 'USD',
      due_at: '2026-01-02T03:04:05.678901Z',
      paid_at: null,
      state: null,
      voided_at: null,
      _first_seen_at: '2026-07-01T00:00:01Z',
      _changed_at: await lastStamp(db),
      _observed_at: '2026-07-01T00:00:01Z',
      _deleted_at: null,
      _extra: null,
      _row_number: 1,
    },
  ]);
  expect(await rowsOf(db, 'sales')).toMatchObject([
    { id: sale.id, referral_id: sale.referral.id, affiliate_id: sale.affiliate.id, sale_amount_cents: 1000 },
  ]);
  expect(await rowsOf(db, 'referrals')).toMatchObject([
    { id: sale.referral.id, customer_email: 'grace@example.com', link_id: sale.referral.link.id },
  ]);
  expect(await rowsOf(db, 'affiliates')).toMatchObject([
    { id: sale.affiliate.id, first_name: 'Ada', campaign_id: sale.affiliate.campaign.id },
  ]);
  expect(await rowsOf(db, 'links')).toMatchObject([{ id: sale.referral.link.id, token: 'ada' }]);
  expect((await rowsOf(db, 'campaigns')).map(({ id }) => id)).toEqual(
    [campaign.id, sale.affiliate.campaign.id].sort(),
  );
});

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

test('a small load that changes nothing does not even lock a row', async () => {
  const records = [buildCommission()];
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records }] });
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(2), records }] });
  const locked = await sql`
    select id from commissions where xmax <> 0 union all select id from sales where xmax <> 0
    union all select id from affiliates where xmax <> 0`.execute(db);
  expect(locked.rows).toEqual([]);
});

test.each([1, 50])(
  'an older observation changes nothing, whatever the order of commits (%i records)',
  async (size) => {
    const old = Array.from({ length: size }, () => buildReferral({ conversion_state: 'lead' }));
    const newer = old.map((record) => ({ ...record, conversion_state: 'conversion' }));
    await load(db, { resource: 'referrals', pages: [{ observedAt: at(20), records: newer }] });
    const late = await load(db, { resource: 'referrals', pages: [{ observedAt: at(10), records: old }] });
    expect(counts(late)).toEqual({ ...nothing, seen: size, unchanged: size });
    const states = (await rowsOf(db, 'referrals')).map(({ conversion_state }) => conversion_state);
    expect(new Set(states)).toEqual(new Set(['conversion']));
  },
);

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

test('a customer that is gone blanks its four columns, and one with new fields keeps them under its name', async () => {
  const referral = buildReferral();
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [referral] }] });
  await load(db, {
    resource: 'referrals',
    pages: [{ observedAt: at(2), records: [{ ...referral, customer: null }] }],
  });
  expect(await rowsOf(db, 'referrals')).toMatchObject([
    { customer_platform: null, customer_id: null, customer_name: null, customer_email: null, visits: 2 },
  ]);
  await load(db, {
    resource: 'referrals',
    pages: [{ observedAt: at(3), records: [{ ...referral, customer: { name: 'G', vip: true } }] }],
  });
  expect(await rowsOf(db, 'referrals')).toMatchObject([
    { customer_name: 'G', customer_email: null, _extra: { customer: { vip: true } } },
  ]);
});

test('of several observations of a record in one batch the newest counts', async () => {
  const referral = buildReferral({ visits: 1 });
  const result = await load(db, {
    resource: 'referrals',
    pages: [
      { observedAt: at(3), records: [{ ...referral, visits: 3 }] },
      { observedAt: at(1), records: [referral, { ...referral, visits: 2 }] },
    ],
  });
  expect(counts(result)).toEqual({ ...nothing, seen: 3, inserted: 1, repeated: 2 });
  expect(await rowsOf(db, 'referrals')).toMatchObject([{ visits: 3 }]);
});

test('a record that Postgres cannot hold is rejected whole with its payload, and the others land', async () => {
  const run = await startRun(db, { resource: 'referrals', mode: 'full' });
  const nul = buildReferral({ customer: { platform: 'stripe', id: 'c', name: 'a\0b', email: null } });
  const surrogate = buildReferral({ note: { deep: ['\ud800'] } });
  const wrong = buildReferral({ affiliate: buildAffiliate({ visitors: 'many' }) });
  const nameless = { visits: 1 };
  const good = buildReferral({ customer: { platform: 'stripe', id: 'c', name: 'Zoë 🦊', email: null } });
  const pages = [{ observedAt: at(1), records: [nul, surrogate, wrong, nameless, good, null] }];
  const result = await load(db, { resource: 'referrals', runId: run.id, pages });
  expect(result).toMatchObject({ seen: 6, inserted: 1, rejected: 5, fresh: 4 });
  expect((await rowsOf(db, 'referrals')).map(({ id }) => id)).toEqual([good.id]);
  expect(await rowsOf(db, 'affiliates')).toEqual([]);
  const { rows: rejected } = await sql<Record<'record_id' | 'reason' | 'payload', unknown>>`
    select * from rejected_records order by id`.execute(db);
  expect(rejected.map(({ record_id, reason }) => ({ record_id, reason }))).toEqual([
    {
      record_id: nul.id,
      reason:
        'customer: expected text that Postgres can store, got a NUL character or half of a surrogate pair',
    },
    {
      record_id: surrogate.id,
      reason: 'note: expected text that Postgres can store, got a NUL character or half of a surrogate pair',
    },
    { record_id: wrong.id, reason: 'affiliate.visitors: expected number, got string' },
    {
      record_id: null,
      reason:
        'id: expected string, got nothing; created_at: expected string, got nothing; updated_at: expected string, got nothing',
    },
    { record_id: null, reason: 'record: expected object, got null' },
  ]);
  expect(rejected.map(({ payload }) => payload)).toEqual([nul, surrogate, wrong, nameless, null]);
});

test('what a commission brings and is refused by itself is not stored by half', async () => {
  const odd = buildAffiliate({ campaign: buildCampaign(), links: 'none' });
  const commission = buildCommission({ sale: buildSale({ affiliate: odd }) });
  await load(db, {
    resource: 'commissions',
    cache: makeLoadedCache(),
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
  const cache = makeLoadedCache();
  const [affiliate, other] = [buildAffiliate({ campaign: buildCampaign() }), buildAffiliate()];
  const campaign = buildCampaign();
  const pages = [
    { observedAt: at(5), records: [buildReferral({ affiliate })] },
    { observedAt: at(3), records: [buildReferral({ affiliate: { ...affiliate, campaign } })] },
    { observedAt: at(6), records: [buildReferral({ affiliate: { ...other, campaign } })] },
  ];
  for (const page of pages) await load(db, { resource: 'referrals', cache, pages: [page] });
  const campaigns = (await rowsOf(db, 'campaigns')).map(({ id }) => id);
  expect(campaigns.sort()).toEqual([affiliate.campaign.id, campaign.id].sort());
});

test('a rejected record that is read again in the run is a repeat, not a second rejection', async () => {
  const run = await startRun(db, { resource: 'referrals', mode: 'full' });
  const pages = [{ observedAt: at(1), records: [buildReferral({ visits: 'two' }), { visits: 1 }] }];
  await load(db, { resource: 'referrals', runId: run.id, pages });
  const again = await load(db, { resource: 'referrals', runId: run.id, pages });
  expect(again).toMatchObject({ seen: 2, rejected: 0, repeated: 2, fresh: 0 });
});

test('a record seen again after its deletion is resurrected, unless that was observed before', async () => {
  const referral = buildReferral();
  const pages = (second: number) => [{ observedAt: at(second), records: [referral] }];
  await load(db, { resource: 'referrals', pages: pages(1) });
  await sql`update referrals set _deleted_at = ${at(10)}, _observed_at = ${at(10)}`.execute(db);
  expect(await load(db, { resource: 'referrals', pages: pages(5) })).toMatchObject({ unchanged: 1 });
  expect(await rowsOf(db, 'referrals')).toMatchObject([{ _deleted_at: '2026-07-01T00:00:10Z' }]);
  expect(await load(db, { resource: 'referrals', pages: pages(20) })).toMatchObject({ updated: 1 });
  expect(await rowsOf(db, 'referrals')).toMatchObject([
    { _deleted_at: null, _changed_at: await lastStamp(db), _observed_at: '2026-07-01T00:00:20Z' },
  ]);
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
  const cache = makeLoadedCache();
  const affiliate = buildAffiliate();
  const page = (second: number, nested: object) => ({
    observedAt: at(second),
    records: [buildReferral({ affiliate: nested })],
  });
  await load(db, { resource: 'referrals', cache, pages: [page(1, affiliate)] });
  await sql`update affiliates set first_name = 'changed by hand'`.execute(db);
  await load(db, { resource: 'referrals', cache, pages: [page(2, { ...affiliate })] });
  expect(await rowsOf(db, 'affiliates')).toMatchObject([{ first_name: 'changed by hand' }]);
  await load(db, { resource: 'referrals', cache, pages: [page(3, { ...affiliate, visitors: 8 })] });
  expect(await rowsOf(db, 'affiliates')).toMatchObject([{ first_name: 'Ada', visitors: 8 }]);
});
