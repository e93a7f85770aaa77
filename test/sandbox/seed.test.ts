// The seeded program: the same for the same seed, and consistent with itself.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { prepareSchema } from '../../src/sandbox/prepare-schema.ts';
import { TABLES } from '../../src/sandbox/schema.ts';
import { createTestDatabase } from '../support/database.ts';

const SIZE = { seed: 11, affiliates: 200, referrals: 6_000, spelling: 'live' } as const;

const { pool } = await createTestDatabase();
await prepareSchema({ pool }, 'first', SIZE, false);

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
      'a sale is charged after its referral came, and known after it was charged',
      'select 1 from sales s join referrals r on r.id = s.referral_id where s.charged_at <= r.created_at or s.created_at <= s.charged_at',
    ],
    [
      'a sale is what was charged less refunds and taxes, never negative',
      'select 1 from sales where sale_amount_cents <> charge_amount_cents - refund_amount_cents - tax_amount_cents or sale_amount_cents < 0',
    ],
    [
      "a commission has its sale's currency and affiliate, and its affiliate's campaign",
      'select 1 from commissions c join sales s on s.id = c.sale_id join affiliates a on a.id = s.affiliate_id where (c.currency, c.affiliate_id, c.campaign_id) is distinct from (s.currency, s.affiliate_id, a.campaign_id)',
    ],
    [
      'a payout has commissions of one affiliate and currency, its state, and their sum',
      'select 1 from payouts p left join commissions c on c.payout_id = p.id group by p.id having sum(c.amount) is distinct from p.amount or min(c.affiliate_id) <> p.affiliate_id or max(c.affiliate_id) <> p.affiliate_id or min(c.currency) <> p.currency or max(c.currency) <> p.currency or min(c.state) <> p.state or max(c.state) <> p.state or max(c.paid_at) is distinct from p.paid_at',
    ],
    [
      'a referral became a lead and a conversion after it came, one after the other, and was changed then at the latest',
      "select 1 from referrals where (became_lead_at is null) <> (conversion_state = 'visitor') or (became_conversion_at is null) = (conversion_state = 'conversion') or became_lead_at not between created_at and updated_at or became_conversion_at not between became_lead_at and updated_at",
    ],
    [
      'nothing is updated before it is created, or after the present of the program',
      "select 1 from (select created_at, updated_at from affiliates union all select created_at, updated_at from referrals union all select created_at, updated_at from sales union all select created_at, updated_at from commissions union all select created_at, updated_at from payouts) t where updated_at < created_at or updated_at > '2026-10-01T00:00:00Z'",
    ],
  ])('%s', async (_rule, sql) => {
    expect(await breaches(sql)).toBe(0);
  });
});
