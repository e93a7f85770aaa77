// The sums of known commissions beside those that the program reports.

import { beforeEach, describe, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { buildAffiliate, buildCommission, buildSale } from './build-records.ts';
import { at, load } from './load.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
});

const cents = (amount: number) => ({ cents: amount, currency_iso: 'USD' });
const earlier = at(0);

async function loadAffiliates(...records: object[]): Promise<void> {
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records }] });
}

async function loadCommissions(affiliate: object, ...commissions: object[]): Promise<void> {
  const records = commissions.map((fields) => buildCommission({ sale: buildSale({ affiliate }), ...fields }));
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(2), records }] });
}

async function totals() {
  const { rows } = await database.pool.query(
    'select * from commission_totals order by affiliate_id, currency',
  );
  return rows;
}

test('known and reported sums are side by side, by currency, with what is not known', async () => {
  const affiliate = buildAffiliate();
  const commission_stats = {
    currencies: {
      USD: {
        unpaid: cents(900),
        due: cents(100),
        paid: cents(2000),
        total: cents(2900),
        net_revenue: cents(9),
      },
      EUR: { unpaid: { cents: 50, currency_iso: 'EUR' }, paid: { cents: 25, currency_iso: 'EUR' } },
    },
  };
  await loadAffiliates({ ...affiliate, commission_stats });
  await loadCommissions(
    affiliate,
    { amount: 300 },
    { amount: 200, currency: 'usd' },
    { amount: 2000, paid_at: earlier },
    { amount: 70, voided_at: earlier },
    { amount: 80, state: 'voided' },
  );
  expect(await totals()).toEqual([
    {
      affiliate_id: affiliate.id,
      currency: 'EUR',
      known_commissions: 0,
      known_unpaid: '0',
      known_paid: '0',
      known_total: '0',
      reported_unpaid: '50',
      reported_paid: '25',
      reported_total: '75',
      unknown_unpaid: '50',
      unknown_paid: '25',
      unknown_total: '75',
    },
    {
      affiliate_id: affiliate.id,
      currency: 'USD',
      known_commissions: 3,
      known_unpaid: '500',
      known_paid: '2000',
      known_total: '2500',
      reported_unpaid: '900',
      reported_paid: '2000',
      reported_total: '2900',
      unknown_unpaid: '400',
      unknown_paid: '0',
      unknown_total: '400',
    },
  ]);
});

test('two spellings of a currency are one, in the program’s totals as in commissions and sales', async () => {
  const affiliate = buildAffiliate();
  const currencies = {
    USD: { unpaid: cents(300), paid: cents(20) },
    usd: { unpaid: cents(50), total: cents(50) },
  };
  await loadAffiliates({ ...affiliate, commission_stats: { currencies } });
  await loadCommissions(affiliate, { amount: 300 });
  expect(await totals()).toMatchObject([
    {
      known_commissions: 1,
      known_total: '300',
      reported_unpaid: '350',
      reported_paid: '20',
      reported_total: '370',
    },
  ]);
  const { rows } = await database.pool.query('select commissions from mirror_reports.affiliate_performance');
  expect(rows).toEqual([{ commissions: 1 }]);
});

test.each([
  ['nothing', null],
  ['no currencies', { currencies: null }],
  ['currencies of another shape', { currencies: [{ USD: 1 }] }],
  ['no figures', { currencies: {} }],
])('where the program reports %s, there are only the known sums', async (_, commission_stats) => {
  const affiliate = buildAffiliate();
  await loadAffiliates({ ...affiliate, commission_stats });
  await loadCommissions(affiliate, { amount: 300 });
  expect(await totals()).toMatchObject([
    {
      known_unpaid: '300',
      known_total: '300',
      reported_unpaid: null,
      reported_total: null,
      unknown_total: null,
    },
  ]);
});

test('figures that are absent or odd are not known, and break nothing', async () => {
  const figures = { unpaid: null, paid: { cents: 'many' }, total: cents(10), due: 7 };
  await loadAffiliates(
    buildAffiliate({ commission_stats: { currencies: { USD: figures, GBP: null, CHF: 5 } } }),
  );
  expect(await totals()).toMatchObject([
    { currency: 'CHF', reported_total: null },
    { currency: 'GBP', reported_total: null },
    {
      currency: 'USD',
      reported_unpaid: null,
      reported_paid: null,
      reported_total: '10',
      unknown_total: '10',
    },
  ]);
});

describe('differences', () => {
  const stats = (unpaid: number, paid: number) => ({
    commission_stats: {
      currencies: { USD: { unpaid: cents(unpaid), paid: cents(paid), total: cents(unpaid + paid) } },
    },
  });
  const differences = async () =>
    (
      await database.pool.query(
        `select affiliate_id, currency, known_unpaid, reported_unpaid, known_paid, reported_paid, known_total, reported_total,
           reported_as_of, is_recent
         from commission_differences order by currency`,
      )
    ).rows;
  const noteAffiliatesRead = (startedAt: string, verified = true, resource = 'affiliates') =>
    database.pool.query(
      `insert into sync_runs (resource, mode, state, verified, started_at, finished_at)
       values ($4, 'full', $2, $3, $1, $1)`,
      [startedAt, verified ? 'succeeded' : 'partial', verified, resource],
    );
  const noteCommissionsRead = (startedAt: string) => noteAffiliatesRead(startedAt, true, 'commissions');

  test('there are none where the sums agree, nor where the program reports none', async () => {
    const [agreed, silent] = [buildAffiliate(), buildAffiliate()];
    await loadAffiliates({ ...agreed, ...stats(300, 0) }, { ...silent, commission_stats: null });
    await loadCommissions(agreed, { amount: 300 });
    await loadCommissions(silent, { amount: 300 });
    expect(await differences()).toEqual([]);
  });

  test('each is a row: another sum, and a currency that the program does not name', async () => {
    const affiliate = buildAffiliate();
    await loadAffiliates({ ...affiliate, ...stats(300, 50) });
    await loadCommissions(affiliate, { amount: 200 }, { amount: 7, currency: 'EUR', paid_at: earlier });
    await noteAffiliatesRead(at(1));
    const row = { affiliate_id: affiliate.id, reported_as_of: '2026-07-01T00:00:01Z', is_recent: false };
    expect(await differences()).toEqual([
      {
        ...row,
        currency: 'EUR',
        known_unpaid: '0',
        reported_unpaid: '0',
        known_paid: '7',
        reported_paid: '0',
        known_total: '7',
        reported_total: '0',
      },
      {
        ...row,
        currency: 'USD',
        known_unpaid: '200',
        reported_unpaid: '300',
        known_paid: '0',
        reported_paid: '50',
        known_total: '200',
        reported_total: '350',
      },
    ]);
  });

  test('is there where what the program reports is more than any amount, to the last digit', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const affiliate = buildAffiliate();
    await loadAffiliates({ ...affiliate, ...stats(most + 1, 0) });
    await loadCommissions(affiliate, { amount: 300 });
    expect(await differences()).toMatchObject([
      { known_unpaid: '300', reported_unpaid: String(BigInt(most) + 1n) },
    ]);
    const { rows } = await database.pool.query('select unpaid_cents from mirror_reports.affiliate_balances');
    expect(rows).toEqual([{ unpaid_cents: String(BigInt(most) + 1n) }]);
  });

  test.each([
    ['unpaid', { unpaid: cents(301), paid: cents(40) }],
    ['paid', { unpaid: cents(300), paid: cents(41) }],
    ['total', { unpaid: cents(300), paid: cents(40), total: cents(341) }],
  ])('is there where only the %s sum differs', async (_, USD) => {
    const affiliate = buildAffiliate();
    await loadAffiliates({
      ...affiliate,
      commission_stats: { currencies: { USD: { total: cents(340), ...USD } } },
    });
    await loadCommissions(affiliate, { amount: 300 }, { amount: 40, paid_at: earlier });
    expect(await differences()).toHaveLength(1);
  });

  test('there is none where the program sends only some of the totals, and these agree', async () => {
    const affiliate = buildAffiliate();
    await loadAffiliates({ ...affiliate, commission_stats: { currencies: { USD: { total: cents(300) } } } });
    await loadCommissions(affiliate, { amount: 300 });
    expect(await differences()).toEqual([]);
  });

  test('is recent, where a commission changed after the program reported', async () => {
    const affiliate = buildAffiliate();
    await loadAffiliates({ ...affiliate, ...stats(300, 0) });
    await noteAffiliatesRead(at(1));
    await loadCommissions(affiliate, { amount: 300, paid_at: at(2), updated_at: at(2) });
    expect(await differences()).toMatchObject([{ currency: 'USD', is_recent: true }]);
    await noteAffiliatesRead(at(2));
    expect(await differences()).toMatchObject([{ currency: 'USD', is_recent: true }]);
    await noteAffiliatesRead(at(3), false);
    expect(await differences()).toMatchObject([{ currency: 'USD', is_recent: true }]);
    await noteAffiliatesRead(at(3));
    expect(await differences()).toMatchObject([{ currency: 'USD', is_recent: false }]);
  });

  test('is recent, while a sync has read the affiliates and not yet the commissions', async () => {
    const affiliate = buildAffiliate();
    await loadAffiliates({ ...affiliate, ...stats(300, 0) });
    await loadCommissions(affiliate, { amount: 200, updated_at: earlier });
    await noteAffiliatesRead(at(1));
    await noteCommissionsRead(at(2));
    expect(await differences()).toMatchObject([{ currency: 'USD', is_recent: false }]);
    await noteAffiliatesRead(at(3));
    expect(await differences()).toMatchObject([{ currency: 'USD', is_recent: true }]);
    await noteCommissionsRead(at(4));
    expect(await differences()).toMatchObject([{ currency: 'USD', is_recent: false }]);
  });

  test('is recent, where a commission was found to be gone after the program reported', async () => {
    const affiliate = buildAffiliate();
    await loadAffiliates({ ...affiliate, ...stats(300, 0) });
    await noteAffiliatesRead(at(2));
    await loadCommissions(affiliate, { amount: 300, updated_at: at(1) });
    expect(await differences()).toEqual([]);
    await database.pool.query('update commissions set _deleted_at = $1', [at(3)]);
    expect(await differences()).toMatchObject([
      { known_unpaid: '0', reported_unpaid: '300', is_recent: true },
    ]);
  });

  test('there is none for a sum that the program leaves out, where it names the currency in small letters', async () => {
    const affiliate = buildAffiliate();
    const currencies = { usd: { unpaid: cents(300) } };
    await loadAffiliates({ ...affiliate, commission_stats: { currencies } });
    await loadCommissions(affiliate, { amount: 300 }, { amount: 5, paid_at: earlier });
    expect(await differences()).toEqual([]);
  });

  test('there is none of an affiliate who is gone, and nothing that the program reports of one', async () => {
    const affiliate = buildAffiliate();
    await loadAffiliates({ ...affiliate, ...stats(900, 0) });
    await loadCommissions(affiliate, { amount: 300 }, { amount: 7, currency: 'EUR' });
    expect(await differences()).toHaveLength(2);
    await database.pool.query('update affiliates set _deleted_at = $1', [at(3)]);
    expect(await differences()).toEqual([]);
    expect(await totals()).toMatchObject([
      { known_unpaid: '7', reported_unpaid: null },
      { known_unpaid: '300', reported_unpaid: null },
    ]);
  });
});

test('what the program reports and is no amount counts as not reported', async () => {
  const affiliate = buildAffiliate();
  const USD = { unpaid: { cents: 900.4 }, paid: { cents: 1e40 }, total: { cents: '2900' } };
  await loadAffiliates({ ...affiliate, commission_stats: { currencies: { USD } } });
  expect(await totals()).toMatchObject([
    { reported_unpaid: '900', reported_paid: null, reported_total: null },
  ]);
  const GBP = { unpaid: { cents: -1e40 }, paid: { cents: null }, total: { cents: 1e40 } };
  await load(db, {
    resource: 'affiliates',
    pages: [{ observedAt: at(2), records: [{ ...affiliate, commission_stats: { currencies: { GBP } } }] }],
  });
  expect(await totals()).toMatchObject([
    { reported_unpaid: null, reported_paid: null, reported_total: null },
  ]);
});

test('a commission without a sale is among those that name no affiliate', async () => {
  await loadCommissions(buildAffiliate(), { sale: null, amount: 300 });
  expect(await totals()).toMatchObject([
    { affiliate_id: null, currency: 'USD', known_commissions: 1, known_unpaid: '300', known_total: '300' },
  ]);
});
