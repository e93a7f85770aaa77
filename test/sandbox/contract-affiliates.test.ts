// api-contract.md: List affiliates, and the Affiliate, Campaign and Link that it shows.

import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTestDatabase } from '../support/database.ts';
import { AFFILIATE_FIELDS, CAMPAIGN_FIELDS, LINK_FIELDS } from './contract-fields.ts';
import { fieldsOf, idsOf, oneRow, runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let sandbox: TestSandbox;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
  sandbox = await runSandbox(pool);
});
afterAll(() => sandbox.close());

const moneySchema = z.strictObject({ cents: z.int(), currency_iso: z.string() });
const statsSchema = z.strictObject({
  currencies: z.record(
    z.string(),
    z.strictObject({
      unpaid: moneySchema,
      due: moneySchema,
      paid: moneySchema,
      total: moneySchema,
      gross_revenue: moneySchema,
      net_revenue: moneySchema,
    }),
  ),
});

describe('List affiliates', () => {
  it('every affiliate has all fields, and the campaign only by expansion', async () => {
    for (const item of await sandbox.allAffiliates()) expect(fieldsOf(item)).toEqual(AFFILIATE_FIELDS);
  });

  it('payout_email: "may be an empty string"', async () => {
    const items = await sandbox.allAffiliates();
    expect(items.some((item) => item.payout_email === '')).toBe(true);
    for (const item of items) expect(item.payout_email).not.toBeNull();
  });

  it('campaign_id: "only affiliates of that campaign"', async () => {
    const { campaign_id, count } = await oneRow<{ campaign_id: string; count: number }>(
      pool,
      'select campaign_id, count(*)::integer from sandbox.affiliates group by 1 order by 2 desc limit 1',
    );
    const items = await sandbox.allAffiliates(`campaign_id=${campaign_id}&expand=campaign`);
    expect(items).toHaveLength(count);
    expect(count).toBeLessThan(60);
    for (const item of items) expect(item.campaign?.id).toBe(campaign_id);
  });

  it('email and stripe_customer_id: "Result has one or zero items", and they combine', async () => {
    const { id, email, processor_customer_id } = await oneRow<Record<string, string>>(
      pool,
      'select * from sandbox.affiliates where processor_customer_id is not null limit 1',
    );
    expect(idsOf(await sandbox.affiliates(`?email=${email}`))).toEqual([id]);
    expect(idsOf(await sandbox.affiliates(`?stripe_customer_id=${processor_customer_id}`))).toEqual([id]);
    const both = `email=${email}&stripe_customer_id=${processor_customer_id}`;
    expect(idsOf(await sandbox.affiliates(`?${both}`))).toEqual([id]);
    expect(idsOf(await sandbox.affiliates('?stripe_customer_id=cus_none'))).toEqual([]);
    expect(idsOf(await sandbox.affiliates(`?email=${email}&campaign_id=another`))).toEqual([]);
  });

  it('expand=campaign: "the campaign details as a nested object"', async () => {
    const [item] = (await sandbox.affiliates('?expand=campaign&limit=1')).data;
    expect(fieldsOf(item)).toEqual([...AFFILIATE_FIELDS, 'campaign'].sort());
    expect(fieldsOf(item?.campaign)).toEqual(CAMPAIGN_FIELDS);
  });

  it('expand=links: "an array of the affiliate\'s links"', async () => {
    const links = (await sandbox.allAffiliates('expand=links')).map((item) => item.links ?? []);
    const { count } = await oneRow<{ count: number }>(pool, 'select count(*)::integer from sandbox.links');
    expect(links.flat()).toHaveLength(count);
    expect(Math.min(...links.map((some) => some.length))).toBe(1);
    expect(Math.max(...links.map((some) => some.length))).toBeGreaterThan(1);
    for (const link of links.flat()) expect(fieldsOf(link)).toEqual(LINK_FIELDS);
  });

  it('expand=commission_stats: "unpaid = due + pending, so unpaid + paid = total", by currency (Commission stats)', async () => {
    const items = await sandbox.allAffiliates('expand=commission_stats');
    const shown = items.flatMap((item) =>
      Object.entries(statsSchema.parse(item.commission_stats).currencies).map(([currency, stats]) => {
        const amounts = Object.entries(stats).map(([name, money]) => {
          expect(money.currency_iso).toBe(currency);
          return [name, money.cents];
        });
        return { affiliate_id: item.id, currency, ...Object.fromEntries(amounts) };
      }),
    );
    const { rows } = await pool.query(
      `select sa.affiliate_id, sa.currency,
              coalesce(sum(co.amount) filter (where co.state in ('pending', 'due')), 0)::float8 as unpaid,
              coalesce(sum(co.amount) filter (where co.state = 'due'), 0)::float8 as due,
              coalesce(sum(co.amount) filter (where co.state = 'paid'), 0)::float8 as paid,
              coalesce(sum(co.amount) filter (where co.state <> 'voided'), 0)::float8 as total,
              sum(sa.charge_amount_cents)::float8 as gross_revenue,
              sum(sa.sale_amount_cents)::float8 as net_revenue
         from sandbox.sales sa join sandbox.commissions co on co.sale_id = sa.id group by 1, 2`,
    );
    const inOrder = (some: { affiliate_id: string; currency: string }[]) =>
      some.toSorted((a, b) => (a.affiliate_id + a.currency < b.affiliate_id + b.currency ? -1 : 1));
    expect(inOrder(shown)).toEqual(inOrder(rows));
    for (const { unpaid, paid, total } of shown) expect(unpaid + paid).toBe(total);
    expect(new Set(shown.map(({ currency }) => currency))).toEqual(new Set(['USD', 'EUR', 'GBP']));
    expect(shown.length).toBeGreaterThan(items.length / 2);
  });
});
