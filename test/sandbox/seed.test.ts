// The seeded program: the same for the same seed, and consistent with itself.

import { createHash } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { prepareSchema } from '../../src/sandbox/prepare-schema.ts';
import { TABLES } from '../../src/sandbox/schema.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let url: string;
const SIZE = { seed: 11, affiliates: 200, referrals: 6_000, spelling: 'live' } as const;

beforeAll(async () => {
  ({ pool, url } = await createTestDatabase());
  await prepareSchema({ pool }, 'first', SIZE, false);
});

/** What the seed draws from chance, and must draw in this order for ever: other fields are made of identifiers. */
const DRAWN = [
  ['campaigns', 'created_at, name, commission_percent'],
  ['affiliates', 'created_at, campaign_id, email, sign_in_count, processor_customer_id, state'],
  ['links', 'affiliate_id, token'],
  [
    'referrals',
    'created_at, affiliate_id, link_id, conversion_state, deactivated_at, visits, customer_email',
  ],
  ['sales', 'created_at, referral_id, currency, processor_charge_id, invoiced_at, charge_amount_cents'],
  ['commissions', 'amount, due_at, paid_at, voided_at, state'],
] as const;

async function fingerprint(schema: string): Promise<string> {
  const hash = createHash('sha256');
  for (const table of TABLES) {
    const { rows } = await pool.query<{ row: string }>(
      `select t::text as row from ${schema}.${table} t order by t::text`,
    );
    for (const { row } of rows) hash.update(row);
  }
  return hash.digest('hex');
}

/** The number of rows of the first schema that break a rule; every rule below must be broken by none. */
async function breaches(sql: string): Promise<number> {
  const { rows } = await pool
    .query<{ count: number }>(
      `set search_path = first; select count(*)::integer as count from (${sql}) breach`,
    )
    .then((results) => (Array.isArray(results) ? results[1] : results));
  return rows[0]?.count ?? -1;
}

describe('The seed', () => {
  it('gives the same program, to the last byte, for the same seed and sizes', async () => {
    await prepareSchema({ pool }, 'second', SIZE, false);
    expect(await fingerprint('second')).toBe(await fingerprint('first'));
  });

  it('gives the program that it always gave: what is added to it takes nothing from chance', async () => {
    const hash = createHash('sha256');
    for (const [table, columns] of DRAWN) {
      const { rows } = await pool
        .query<{ row: string }>(
          `set timezone = 'UTC'; select (id, ${columns})::text as row from first.${table} order by id`,
        )
        .then((results) => (Array.isArray(results) ? results[1] : results));
      for (const { row } of rows) hash.update(row);
    }
    expect(hash.digest('hex')).toBe('ccb0feda803ecac30b925300e8825e1d08f4204c0782caff29e245a0907fe64b');
  });

  it('tells how far it has come, batch by batch', async () => {
    const told: unknown[] = [];
    const size = { ...SIZE, seed: 1, affiliates: 5, referrals: 10_001 };
    const onProgress = (progress: unknown) => told.push(progress);
    await prepareSchema({ pool, onProgress }, 'told', size, false);
    expect(told).toEqual([5_000, 10_000, 10_001].map((done) => ({ done, total: 10_001 })));
  });

  it('goes on where making up its rows takes longer than a transaction may usually be idle', async () => {
    const hasty = new pg.Pool({
      connectionString: url,
      max: 1,
      options: '-c idle_in_transaction_session_timeout=50ms',
    });
    const onProgress = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    await prepareSchema({ pool: hasty, onProgress }, 'slow', { ...SIZE, referrals: 5_001 }, false);
    await hasty.end();
    await pool.query('drop schema slow cascade');
  });

  it('that is stopped midway leaves nothing behind, and can be started again', async () => {
    const controller = new AbortController();
    const size = { ...SIZE, seed: 1, affiliates: 5, referrals: 10_001 };
    const onProgress = () => controller.abort(new Error('stopped by the test'));
    const seeding = prepareSchema({ pool, onProgress, signal: controller.signal }, 'stopped', size, false);
    await expect(seeding).rejects.toThrow('stopped by the test');
    const { rows } = await pool.query("select from pg_namespace where nspname = 'stopped'");
    expect(rows).toEqual([]);
    expect(await prepareSchema({ pool }, 'stopped', size, false)).toBe(true);
  });

  it('gives another program for another seed', async () => {
    await prepareSchema({ pool }, 'third', { ...SIZE, seed: 12 }, false);
    const { rows } = await pool.query('select 1 from first.referrals join third.referrals using (id)');
    expect(rows).toEqual([]);
  });

  it('as of another day gives the same records, with all their times so much later', async () => {
    await prepareSchema({ pool, asOf: new Date('2027-03-05T00:00:00Z') }, 'later', SIZE, false);
    const { rows } = await pool.query(`
      select (later.created_at - first.created_at)::text as commission, (later.due_at - first.due_at)::text as due,
             later.state = first.state as is_same, count(*)::integer as commissions
      from first.commissions first full join later.commissions later using (id)
      group by 1, 2, 3`);
    const { rowCount } = await pool.query('select from first.commissions');
    expect(rows).toEqual([{ commission: '155 days', due: '155 days', is_same: true, commissions: rowCount }]);
  });

  it('gives the same answers over HTTP, byte by byte', async () => {
    const texts: string[] = [];
    for (const schema of ['http_a', 'http_b']) {
      const sandbox = await runSandbox(pool, { schema });
      for (const path of [
        '/v1/affiliates?expand[]=campaign&expand[]=links&expand[]=commission_stats&limit=100',
        '/v1/referrals?expand=affiliate&page=3',
      ]) {
        texts.push((await sandbox.send('GET', path)).text);
      }
      await sandbox.close();
    }
    expect(texts.slice(2)).toEqual(texts.slice(0, 2));
  });

  it('makes as many affiliates and referrals as asked for', async () => {
    for (const sizes of [
      SIZE,
      { ...SIZE, affiliates: 1, referrals: 0 },
      { ...SIZE, affiliates: 0, referrals: 0 },
    ]) {
      const schema = sizes === SIZE ? 'first' : `sized_${sizes.affiliates}`;
      await prepareSchema({ pool }, schema, sizes, false);
      const { rows } = await pool.query(
        `select (select count(*) from ${schema}.affiliates)::integer as affiliates,
                (select count(*) from ${schema}.referrals)::integer as referrals`,
      );
      expect(rows[0]).toEqual({ affiliates: sizes.affiliates, referrals: sizes.referrals });
    }
  });
});

describe('The seeded program is consistent with itself', () => {
  it.each(['affiliate', 'link'])("an %s's counters equal what its referrals say", async (owner) => {
    const broken = await breaches(
      `select o.id from ${owner}s o left join referrals r on r.${owner}_id = o.id group by o.id
       having (o.visitors, o.leads, o.conversions) is distinct from
              (count(r.id),
               count(r.id) filter (where r.conversion_state in ('lead', 'conversion')),
               count(r.id) filter (where r.conversion_state = 'conversion'))`,
    );
    expect(broken).toBe(0);
  });

  it.each([
    [
      'every affiliate has a link',
      'select 1 from affiliates a where not exists (select 1 from links where affiliate_id = a.id)',
    ],
    [
      "a referral's link is its affiliate's",
      'select 1 from referrals r join links l on l.id = r.link_id where l.affiliate_id <> r.affiliate_id',
    ],
    [
      'a referral is not older than its affiliate',
      'select 1 from referrals r join affiliates a on a.id = r.affiliate_id where r.created_at < a.created_at',
    ],
    [
      'sales belong to conversions',
      "select 1 from sales s join referrals r on r.id = s.referral_id where r.conversion_state <> 'conversion' or s.affiliate_id <> r.affiliate_id",
    ],
    [
      'every conversion has a sale',
      "select 1 from referrals r where conversion_state = 'conversion' and not exists (select 1 from sales where referral_id = r.id)",
    ],
    [
      'a sale is charged after its referral came, and known after it was charged',
      'select 1 from sales s join referrals r on r.id = s.referral_id where s.charged_at <= r.created_at or s.created_at <= s.charged_at',
    ],
    [
      'a sale is what was charged less refunds and taxes, never negative',
      'select 1 from sales where sale_amount_cents <> charge_amount_cents - refund_amount_cents - tax_amount_cents or sale_amount_cents < 0',
    ],
    [
      'every sale has one commission',
      'select 1 from sales s left join commissions c on c.sale_id = s.id group by s.id having count(c.id) <> 1',
    ],
    [
      "a commission has its sale's currency and affiliate, and its affiliate's campaign",
      'select 1 from commissions c join sales s on s.id = c.sale_id join affiliates a on a.id = s.affiliate_id where (c.currency, c.affiliate_id, c.campaign_id) is distinct from (s.currency, s.affiliate_id, a.campaign_id)',
    ],
    [
      'a commission that is not voided is its share of the sale',
      "select 1 from commissions c join sales s on s.id = c.sale_id join campaigns p on p.id = c.campaign_id where c.state <> 'voided' and c.amount <> round(s.sale_amount_cents * p.commission_percent / 100.0)",
    ],
    [
      'a commission is due after its sale',
      'select 1 from commissions c join sales s on s.id = c.sale_id where c.due_at <= s.charged_at',
    ],
    [
      'a commission is voided where its sale was refunded',
      "select 1 from commissions c join sales s on s.id = c.sale_id where (c.state = 'voided') <> (s.refund_amount_cents > 0) or (c.voided_at is null) = (c.state = 'voided')",
    ],
    [
      'a commission is paid where it has paid_at, and after it fell due',
      "select 1 from commissions where (paid_at is null) = (state = 'paid') or paid_at < due_at",
    ],
    [
      'a referral became a lead and a conversion after it came, one after the other, and was changed then at the latest',
      "select 1 from referrals where (became_lead_at is null) <> (conversion_state = 'visitor') or (became_conversion_at is null) = (conversion_state = 'conversion') or became_lead_at not between created_at and updated_at or became_conversion_at not between became_lead_at and updated_at",
    ],
    [
      'nobody is charged before being a conversion',
      'select 1 from referrals r join sales s on s.referral_id = r.id where s.charged_at < r.became_conversion_at',
    ],
    [
      'nothing is updated before it is created, or after the present of the program',
      "select 1 from (select created_at, updated_at from affiliates union all select created_at, updated_at from referrals union all select created_at, updated_at from sales union all select created_at, updated_at from commissions) t where updated_at < created_at or updated_at > '2026-10-01T00:00:00Z'",
    ],
  ])('%s', async (_rule, sql) => {
    expect(await breaches(sql)).toBe(0);
  });

  it.each([
    ['commissions in every state', 'select distinct state from commissions', 4],
    ['several currencies', 'select distinct currency from sales', 3],
    [
      'ties in the order of referrals',
      'select created_at from referrals group by 1 having count(*) > 1',
      100,
    ],
    [
      'ties in the order of affiliates',
      'select created_at from affiliates group by 1 having count(*) > 1',
      1,
    ],
    [
      'times of millisecond precision',
      "select 1 from referrals where date_trunc('second', created_at) <> created_at",
      5_000,
    ],
    [
      'two years of referrals',
      "select 1 from (select max(created_at) - min(created_at) as span from referrals) s where span > '600 days'",
      1,
    ],
    ['referrals by coupon', 'select 1 from referrals where link_id is null', 10],
    [
      'customers with two referrals',
      'select customer_email from referrals where customer_email is not null group by 1 having count(*) = 2',
      5,
    ],
    ['affiliates with several links', 'select affiliate_id from links group by 1 having count(*) > 1', 10],
    ['affiliates who never confirmed', 'select 1 from affiliates where confirmed_at is null', 1],
    ['sales without an invoice', 'select 1 from sales where invoiced_at is null', 10],
    [
      'conversions of before their first charge was known',
      'select 1 from referrals r where became_conversion_at < (select min(created_at) from sales where referral_id = r.id)',
      100,
    ],
    ['names beyond ASCII', "select 1 from affiliates where first_name ~ '[^ -~]'", 1],
  ])('it holds %s', async (_what, sql, atLeast) => {
    expect(await breaches(sql)).toBeGreaterThanOrEqual(atLeast);
  });
});
