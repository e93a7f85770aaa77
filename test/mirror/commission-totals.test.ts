// The sums of known commissions beside those that the program reports.

import { expect, test } from 'vitest';
import { buildAffiliate, buildSale } from './build-records.ts';
import { at } from './load.ts';
import { useMirror } from './mirror.ts';

const mirror = useMirror();

const cents = (amount: number) => ({ cents: amount, currency_iso: 'USD' });
const MOST = Number.MAX_SAFE_INTEGER;
const affiliate = buildAffiliate();

/** Loads the affiliate, for whom the program reports these figures by currency, and its commissions. */
async function store(currencies: unknown, ...commissions: readonly object[]): Promise<void> {
  const { sync } = mirror();
  const commission_stats = currencies === null ? null : { currencies };
  await sync('affiliates', { ...affiliate, updated_at: at(0), commission_stats });
  const sale = buildSale({
    affiliate: { id: affiliate.id, created_at: affiliate.created_at, updated_at: at(0) },
  });
  if (commissions.length > 0)
    await sync('commissions', ...commissions.map((fields) => ({ sale, ...fields })));
}

const totals = () => mirror().rows('select * from commission_totals order by affiliate_id, currency');
const differences = () => mirror().rows('select * from commission_differences order by currency');

test('known and reported sums are side by side, by currency in whichever spelling, with what is not known', async () => {
  await store(
    {
      USD: {
        unpaid: cents(850),
        due: cents(100),
        paid: cents(2000),
        total: cents(2850),
        net_revenue: cents(9),
      },
      usd: { unpaid: cents(50), total: cents(50) },
      EUR: { unpaid: { cents: 50, currency_iso: 'EUR' }, paid: { cents: 25, currency_iso: 'EUR' } },
    },
    { amount: 300 },
    { amount: 200, currency: 'usd' },
    { amount: 2000, paid_at: at(0) },
    { amount: 70, voided_at: at(0) },
    { amount: 80, state: 'voided' },
    { amount: 7, sale: null },
  );
  const lineOf = (currency: string, count: number, figures: readonly string[]) => ({
    affiliate_id: affiliate.id,
    currency,
    known_commissions: count,
    ...Object.fromEntries(
      ['known', 'reported', 'unknown'].flatMap((kind, row) =>
        ['unpaid', 'paid', 'total'].map((sum, column) => [`${kind}_${sum}`, figures[row * 3 + column]]),
      ),
    ),
  });
  expect(await totals()).toEqual([
    lineOf('EUR', 0, ['0', '0', '0', '50', '25', '75', '50', '25', '75']),
    lineOf('USD', 3, ['500', '2000', '2500', '900', '2000', '2900', '400', '0', '400']),
    expect.objectContaining({
      affiliate_id: null,
      known_commissions: 1,
      known_unpaid: '7',
      known_total: '7',
    }),
  ]);
  expect(await mirror().rows('select commissions from mirror_reports.affiliate_performance')).toEqual([
    { commissions: 3 },
  ]);
});

test.each<[string, unknown, Readonly<Record<string, string | null>>]>([
  ['nothing', null, { known_total: '300', reported_unpaid: null, reported_total: null, unknown_total: null }],
  ['currencies of another shape', [{ USD: 1 }], { known_total: '300', reported_total: null }],
  ['no figures', {}, { known_total: '300', reported_total: null }],
  ['a currency without figures', { USD: 5 }, { reported_total: null }],
  [
    'figures that are absent or odd',
    { USD: { unpaid: null, paid: { cents: 'many' }, total: cents(310), due: 7 } },
    { reported_unpaid: null, reported_paid: null, reported_total: '310', unknown_total: '10' },
  ],
  [
    'figures that are no amount',
    { USD: { unpaid: { cents: 900.4 }, paid: { cents: 1e40 }, total: { cents: '2900' } } },
    { reported_unpaid: '900', reported_paid: null, reported_total: null },
  ],
  [
    'amounts beyond all amounts',
    { USD: { unpaid: { cents: -1e40 }, paid: { cents: null }, total: { cents: 1e40 } } },
    { reported_unpaid: null, reported_paid: null, reported_total: null },
  ],
])('where the program reports %s, only that is not known', async (_, currencies, line) => {
  await store(currencies, { amount: 300 });
  expect(await totals()).toMatchObject([{ currency: 'USD', known_unpaid: '300', ...line }]);
});

const PAID = { amount: 40, paid_at: at(0) };

test.each<[string, unknown, readonly object[], readonly object[]]>([
  ['where the sums agree', { USD: { unpaid: cents(300), paid: cents(0), total: cents(300) } }, [], []],
  ['where the program reports none', null, [], []],
  ['where it sends some of the totals, and these agree', { USD: { total: cents(300) } }, [], []],
  ['where it leaves out a sum, of a currency in small letters', { usd: { unpaid: cents(300) } }, [PAID], []],
  [
    'where the unpaid sum differs',
    { USD: { unpaid: cents(301), paid: cents(40), total: cents(340) } },
    [PAID],
    [{ known_unpaid: '300', reported_unpaid: '301' }],
  ],
  [
    'where the paid sum differs',
    { USD: { unpaid: cents(300), paid: cents(41), total: cents(340) } },
    [PAID],
    [{ known_paid: '40', reported_paid: '41' }],
  ],
  [
    'where the total differs',
    { USD: { unpaid: cents(300), paid: cents(40), total: cents(341) } },
    [PAID],
    [{ known_total: '340', reported_total: '341' }],
  ],
  [
    'where it does not name a currency',
    { USD: { unpaid: cents(300), total: cents(300) } },
    [{ amount: 7, currency: 'EUR', paid_at: at(0) }],
    [{ currency: 'EUR', known_paid: '7', reported_paid: '0', known_total: '7', reported_total: '0' }],
  ],
  [
    'where it reports more than any amount, to the last digit',
    { USD: { unpaid: cents(MOST + 1) } },
    [],
    [{ known_unpaid: '300', reported_unpaid: String(BigInt(MOST) + 1n) }],
  ],
])('differences %s', async (_, currencies, commissions, expected) => {
  await store(currencies, { amount: 300 }, ...commissions);
  expect(await differences()).toMatchObject(expected);
});

test('of an affiliate who is gone there is no difference, and nothing that the program reports', async () => {
  const { pool } = mirror();
  await store({ USD: { unpaid: cents(900) } }, { amount: 300 }, { amount: 7, currency: 'EUR' });
  expect(await differences()).toHaveLength(2);
  await pool.query('update affiliates set _deleted_at = $1', [at(3)]);
  expect(await differences()).toEqual([]);
  expect(await totals()).toMatchObject([
    { known_unpaid: '7', reported_unpaid: null },
    { known_unpaid: '300', reported_unpaid: null },
  ]);
});

test('a difference is recent until both were read after a commission changed or went', async () => {
  const { pool } = mirror();
  const isRecent = async () => (await differences()).map(({ is_recent }) => is_recent);
  const noteRead = (startedAt: string, resource = 'affiliates', verified = true) =>
    pool.query(
      `insert into sync_runs (resource, mode, state, verified, started_at, finished_at)
       values ($4, 'full', $2, $3, $1, $1)`,
      [startedAt, verified ? 'succeeded' : 'partial', verified, resource],
    );
  await noteRead(at(1));
  await store({ USD: { unpaid: cents(300), paid: cents(0) } }, { ...PAID, updated_at: at(2) });
  expect(await differences()).toMatchObject([{ reported_as_of: '2026-07-01T00:00:01Z', is_recent: true }]);
  await noteRead(at(2));
  expect(await isRecent()).toEqual([true]);
  await noteRead(at(3), 'affiliates', false);
  expect(await isRecent()).toEqual([true]);
  await noteRead(at(3));
  expect(await isRecent()).toEqual([false]);
  // A sync has read the affiliates, and not yet the commissions.
  await noteRead(at(4), 'commissions');
  expect(await isRecent()).toEqual([false]);
  await noteRead(at(5));
  expect(await isRecent()).toEqual([true]);
  await noteRead(at(6), 'commissions');
  expect(await isRecent()).toEqual([false]);
  await pool.query('update commissions set _deleted_at = $1', [at(7)]);
  expect(await isRecent()).toEqual([true]);
});
