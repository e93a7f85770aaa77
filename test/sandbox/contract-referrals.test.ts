// api-contract.md: List referrals, and the Referral, Customer and Link that it shows.

import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { idsOf, oneRow, runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool);

describe('List referrals', () => {
  it('email and stripe_customer_id: only the referrals of that customer, who may have several', async () => {
    const { customer_email, processor_customer_id } = await oneRow<Record<string, string>>(
      pool,
      `select customer_email, processor_customer_id from sandbox.referrals where customer_email is not null
        group by 1, 2 having count(*) = 2 limit 1`,
    );
    const byEmail = await sandbox.referrals(`?email=${customer_email}`);
    expect(byEmail.pagination.total_count).toBe(2);
    expect(byEmail.data.map((item) => item.customer?.email)).toEqual([customer_email, customer_email]);
    const byId = await sandbox.referrals(`?stripe_customer_id=${processor_customer_id}`);
    expect(byId).toEqual(byEmail);
  });

  it('"Filters combine; page and limit apply to the filtered result"', async () => {
    const { affiliate_id } = await oneRow<{ affiliate_id: string }>(
      pool,
      `select affiliate_id from sandbox.referrals where conversion_state = 'lead'
        group by 1 order by count(*) desc limit 1`,
    );
    const { expected } = await oneRow<{ expected: string[] }>(
      pool,
      `select array_agg(id order by created_at desc, id desc) as expected from sandbox.referrals
        where affiliate_id = '${affiliate_id}' and conversion_state = 'lead'`,
    );
    expect(expected.length).toBeGreaterThan(2);
    const query = `affiliate_id=${affiliate_id}&conversion_state=lead`;
    const first = await sandbox.referrals(`?${query}&limit=2`);
    expect(idsOf(first)).toEqual(expected.slice(0, 2));
    expect(first.pagination.total_count).toBe(expected.length);
    const second = await sandbox.referrals(`?${query}&limit=2&page=2`);
    expect(idsOf(second)).toEqual(expected.slice(2, 4));

    const email = first.data[0]?.customer?.email;
    expect(idsOf(await sandbox.referrals(`?${query}&email=${email}`))).toEqual([expected[0]]);
  });

  it.each([
    'affiliate_id=not-a-uuid',
    'conversion_state=unheard_of',
    'email=nobody@example.com',
    'stripe_customer_id=cus_none',
    'email=a%00b',
  ])('%s finds nothing, and that is 200', async (query) => {
    expect((await sandbox.referrals(`?${query}`)).data).toEqual([]);
  });

  it.each(['affiliate_id=', 'conversion_state=', 'conversion_state[]=', 'email=', 'stripe_customer_id='])(
    'a blank filter %s counts as not sent',
    async (query) => {
      expect(await sandbox.referrals(`?${query}`)).toEqual(await sandbox.referrals());
    },
  );
});
