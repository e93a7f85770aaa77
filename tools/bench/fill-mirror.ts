// Fills the tables of a mirror by SQL: a program of some years, in all the states that the reports tell apart. No sync
// takes part, so a million referrals are there within a minute.

import type { Pool } from '../../src/db/connect/shared-pool.ts';

export interface MirrorSizes {
  readonly referrals: number;
  readonly commissions: number;
}

/** A hundred referrals to an affiliate, as invent-program.ts has it. */
const REFERRALS_PER_AFFILIATE = 100;

/** Fills the empty tables, and has the planner know them. */
export async function fillMirror(pool: Pool, { referrals, commissions }: MirrorSizes): Promise<void> {
  const affiliates = Math.ceil(referrals / REFERRALS_PER_AFFILIATE);
  for (const [text, values] of [
    [AFFILIATES, [affiliates]],
    [LINKS, [affiliates]],
    [REFERRALS, [referrals, affiliates]],
    [HISTORY, [referrals]],
    [SALES, [commissions, referrals, affiliates]],
    [COMMISSIONS, [commissions]],
    [UPDATES, [Math.ceil(commissions / 20)]],
    [RUNS, [Math.ceil(referrals / 1_000)]],
  ] as const) {
    await pool.query(text, [...values]);
  }
  // Also the marks of visible rows, which a mirror gets from autovacuum.
  await pool.query('vacuum analyze');
}

const ID = (kind: number, number: string) =>
  `('0000000${kind}-0000-4000-8000-' || lpad((${number})::text, 12, '0'))`;
/** A moment of the last three years, the same for the same number. */
const AGO = (number: string) => `now() - (((${number})::bigint * 7919) % 94608000) * interval '1 second'`;
const METADATA = '_first_seen_at, _changed_at, _observed_at, _deleted_at';

const AFFILIATES = `
  with campaign as (
    insert into campaigns (id, name, ${METADATA})
    select ${ID(1, 'n')}, 'Campaign ' || n, now(), now(), now(), null from generate_series(0, 4) n
  )
  insert into affiliates (id, created_at, first_name, last_name, email, visitors, leads, conversions, state, campaign_id,
                          commission_stats, ${METADATA})
  select ${ID(2, 'n')}, ${AGO('n')}, 'First' || n, 'Last' || n, 'a' || n || '@example.com', n % 500, n % 50, n % 7,
         'active', ${ID(1, 'n % 5')},
         jsonb_build_object('currencies', jsonb_build_object(
           'USD', jsonb_build_object('unpaid', jsonb_build_object('cents', n), 'paid', jsonb_build_object('cents', n * 2)),
           'EUR', jsonb_build_object('unpaid', jsonb_build_object('cents', 0), 'paid', jsonb_build_object('cents', n)))),
         now(), now(), now(), case when n % 50 = 0 then now() end
  from generate_series(0, $1::int - 1) n`;

const LINKS = `
  insert into links (id, affiliate_id, url, token, visitors, leads, conversions, ${METADATA})
  select ${ID(3, 'n')}, ${ID(2, 'n')}, 'https://example.com/?via=a' || n, 'a' || n, n % 500, n % 50, n % 7,
         now(), now(), now(), null
  from generate_series(0, $1::int - 1) n`;

/** Of ten, seven are visitors, one is a lead and two converted; the program states when for one of two. */
const REFERRALS = `
  insert into referrals (id, created_at, updated_at, affiliate_id, link_id, processor_account_id, processor_customer_id,
                         conversion_state, expires_at, customer_platform, customer_id, customer_name, customer_email,
                         visits, became_lead_at, became_conversion_at, ${METADATA})
  select ${ID(4, 'n')}, made.at, made.at, ${ID(2, 'n % $2::int')}, ${ID(3, 'n % $2::int')}, 'acct_1', 'cus_' || n,
         case when n % 10 < 7 then 'visitor' when n % 10 = 7 then 'lead' else 'conversion' end, made.at + interval '1 year',
         'stripe', 'cus_' || n, 'Customer ' || n, 'c' || n || '@example.com', n % 9,
         case when n % 10 >= 7 and n / 10 % 2 = 0 then made.at + interval '3 days' end,
         case when n % 10 >= 8 and n / 10 % 2 = 0 then made.at + interval '9 days' end,
         made.at, now(), now(), case when n % 50 = 1 then now() end
  from generate_series(0, $1::int - 1) n
  cross join lateral (select ${AGO('n')} as at) made`;

/** The mirror saw the other half become leads and convert. */
const HISTORY = `
  insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
  select 'referrals', ${ID(4, 'n')}, 'updated', jsonb_build_object('conversion_state', was.state),
         jsonb_build_object('conversion_state', became.state), ${AGO('n')} + became.days * interval '1 day', now()
  from generate_series(0, $1::int - 1) n
  cross join (values ('lead', 3), ('conversion', 9)) as became (state, days)
  cross join lateral (select case became.state when 'lead' then 'visitor' else 'lead' end as state) was
  where n % 10 >= 8 and n / 10 % 2 = 1`;

const SALES = `
  insert into sales (id, created_at, referral_id, affiliate_id, currency, charged_at, processor_charge_id,
                     charge_amount_cents, refund_amount_cents, tax_amount_cents, sale_amount_cents, ${METADATA})
  select ${ID(5, 'n')}, ${AGO('n')}, ${ID(4, '(n * 7) % $2::int')}, ${ID(2, '(n * 7) % $2::int % $3::int')},
         (array['USD', 'EUR'])[n % 2 + 1], ${AGO('n')}, 'ch_' || n, 10000, case when n % 40 = 0 then 10000 else 0 end, 0,
         10000, now(), now(), now(), null
  from generate_series(0, $1::int - 1) n`;

const COMMISSIONS = `
  insert into commissions (id, created_at, campaign_id, sale_id, amount, currency, due_at, paid_at, state, voided_at,
                           ${METADATA})
  select ${ID(6, 'n')}, ${AGO('n')}, ${ID(1, 'n % 5')}, ${ID(5, 'n')}, 2000 + n % 100, (array['USD', 'EUR'])[n % 2 + 1],
         ${AGO('n')} + interval '45 days',
         case when n % 2 = 0 then ${AGO('n')} + interval '50 days' end,
         case when n % 2 = 0 then 'paid' when ${AGO('n')} + interval '45 days' < now() then 'due' else 'pending' end,
         case when n % 100 = 3 then now() end, now(), now(), now(), case when n % 50 = 1 then now() end
  from generate_series(0, $1::int - 1) n`;

/** Requests that wait, for every twentieth commission. */
const UPDATES = `
  insert into commission_updates (commission_id, action, paid_at, reason, batch_id)
  select ${ID(6, 'n * 20 + 1')}, 'pay', now(), 'payroll', 'batch ' || n % 100
  from generate_series(0, $1::int - 1) n`;

const RUNS = `
  insert into sync_runs (resource, mode, state, verified, started_at, finished_at)
  select (array['affiliates', 'referrals', 'commissions'])[n % 3 + 1], case when n % 24 < 3 then 'full' else 'delta' end,
         'succeeded', true, now() - n * interval '20 minutes', now() - n * interval '20 minutes' + interval '1 minute'
  from generate_series($1::int, 1, -1) n`;
