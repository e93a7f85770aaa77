// api-contract.md: List affiliates, and the Affiliate, Campaign and Link that it shows.

import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { idsOf, oneRow, runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool);

interface Stats {
  readonly currencies: Record<string, Record<string, { cents: number; currency_iso: string }>>;
}

describe('List affiliates', () => {
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
    const customer = `stripe_customer_id=${processor_customer_id}`;
    for (const query of [`email=${email}`, customer, `email=${email}&${customer}`]) {
      expect(idsOf(await sandbox.affiliates(`?${query}`))).toEqual([id]);
    }
    expect(idsOf(await sandbox.affiliates(`?email=${email}&campaign_id=another`))).toEqual([]);
  });

  it('expand=commission_stats: "unpaid = due + pending, so unpaid + paid = total", by currency (Commission stats)', async () => {
    const items = await sandbox.allAffiliates('expand=commission_stats');
    const shown = items.flatMap((item) =>
      Object.entries((item.commission_stats as unknown as Stats).currencies).map(([currency, stats]) => {
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
