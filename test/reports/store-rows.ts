import type { Pool } from '../../src/db/connect/shared-pool.ts';
// The rows of a small mirror, written by SQL into the tables that the first migration makes: what every view of the
// reports shows, and of each table one row that is gone from the program.

/** Personal data in these rows. None of it may be read by whoever must not see personal data. */
export const PERSONAL = [
  'Ada',
  'Lovelace',
  'ada@',
  'payout-ada',
  'new-ada',
  'wise-ada',
  'cus_ada',
  'acct_ada',
  'via=ada',
  'Grace',
  'grace@',
  'cus_grace',
  'processor_grace',
  'ada1',
  'ADA20',
] as const;

/** What the commission ledger holds in people's own words. */
export const FREE_TEXT = ['batch of Ada', 'Ada asked for it', 'Margaret'] as const;

/** The same in every mirror of a test. */
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();

export const COMMISSION = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

/** Stores them; `gone` ones have the identifier `gone`. */
export async function storeRows(pool: Pool): Promise<void> {
  await pool.query(`
    insert into campaigns (id, created_at, name, private, ${OWN})
    values ('c1', '2026-01-01Z', 'Friends', false, ${METADATA}),
           ('gone', '2026-01-01Z', 'gone', false, ${GONE});
    insert into affiliates (id, created_at, first_name, last_name, email, payout_email, unconfirmed_email, wise_email,
                            processor_customer_id, processor_account_id, visitors, leads, conversions, campaign_id,
                            commission_stats, _extra, ${OWN})
    values ('a1', '2026-01-01Z', 'Ada', 'Lovelace', 'ada@example.com', 'payout-ada@example.com', 'new-ada@example.com',
            'wise-ada@example.com', 'cus_ada', 'acct_ada', 8, 4, 2, 'c1',
            '{"currencies": {"usd": {"unpaid": {"cents": 900}, "due": {"cents": 100}, "paid": {"cents": 2000},
                                     "total": {"cents": 2900}, "gross_revenue": {"cents": 1000},
                                     "net_revenue": {"cents": 990.5}},
                             "EUR": {"unpaid": {"cents": "1"}, "paid": {"cents": 1e40}, "total": null}, "GBP": 1}}',
            '{"nickname": "Ada"}', ${METADATA}),
           ('a2', '2026-01-02Z', null, null, null, null, null, null, null, null, 0, 0, 0, null, '[]', null, ${METADATA}),
           ('gone', '2026-01-01Z', 'gone', null, null, null, null, null, null, null, 9, 9, 9, null,
            '{"currencies": {"USD": {}}}', null, ${GONE});
    insert into links (id, affiliate_id, url, token, visitors, leads, conversions, ${OWN})
    values ('l1', 'a1', 'https://example.com/?via=ada', 'ada1', 8, 4, 2, ${METADATA}),
           ('gone', 'a1', null, null, 0, 0, 0, ${GONE});
    insert into referrals (id, created_at, affiliate_id, link_id, processor_customer_id, conversion_state, customer_id,
                           customer_name, customer_email, became_lead_at, became_conversion_at, coupon, _extra, ${OWN})
    values ('r1', '2026-01-31T23:59:59.999999Z', 'a1', 'l1', 'processor_grace', 'conversion', 'cus_grace',
            'Grace', 'grace@example.com', '2026-02-01T00:00:00Z', '2026-02-03T12:00:00Z',
            '{"id": "k1", "token": "ADA20"}', '{"born": "Grace"}', ${METADATA}),
           ('r2', '2026-02-01T00:00:00Z', 'a1', 'l1', null, 'visitor', null, null, null, null, null, null, null, ${METADATA}),
           ('gone', '2026-02-01T00:00:00Z', 'a1', 'l1', null, 'conversion', null, null, null, '2026-02-01Z',
            '2026-02-01Z', null, null, ${GONE});
    insert into sales (id, referral_id, affiliate_id, currency, charge_amount_cents, refund_amount_cents,
                       sale_amount_cents, ${OWN})
    values ('s1', 'r1', 'a1', 'usd', 1000, 10, 990, ${METADATA}),
           ('s2', 'r1', 'a1', 'USD', 500, 500, 0, ${METADATA}),
           ('gone', 'r1', 'a1', 'USD', 7, 7, 7, ${GONE});
    insert into commissions (id, created_at, campaign_id, sale_id, amount, currency, due_at, paid_at, state, voided_at,
                             ${OWN})
    values ('${COMMISSION}', '2026-01-01Z', 'c1', 's1', 300, 'usd', '2026-03-05Z', null, 'due', null, ${METADATA}),
           ('paid', '2026-01-01Z', 'c1', 's1', 200, 'USD', '2026-03-31T23:59:59Z', '2026-04-01Z', 'paid', null, ${METADATA}),
           ('refunded', '2026-01-01Z', 'c1', 's2', 50, 'USD', '2026-03-01Z', null, 'due', null, ${METADATA}),
           ('new', '2026-01-01Z', 'c1', 's1', 70, 'USD', '${YESTERDAY}', null, 'due', null, ${METADATA}),
           ('later', '2026-01-01Z', 'c1', 's1', 60, 'USD', '2999-03-01Z', null, 'pending', null, ${METADATA}),
           ('voided', '2026-01-01Z', 'c1', 's1', 40, 'USD', '2026-03-01Z', null, 'voided', '2026-03-02Z', ${METADATA}),
           ('gone', '2026-01-01Z', 'c1', 's1', 30, 'USD', '2026-03-01Z', null, 'due', null, ${GONE});
    insert into payouts (id, created_at, affiliate_id, amount, currency, state, ${OWN})
    values ('p1', '2026-03-05Z', 'a1', 300, 'USD', 'due', ${METADATA}),
           ('gone', '2026-03-05Z', 'a1', 7, 'USD', 'due', ${GONE})`);
}

const OWN = '_first_seen_at, _changed_at, _observed_at, _deleted_at';
const METADATA = `'2026-02-10Z', '2026-02-11Z', '2026-02-12Z', null`;
const GONE = `'2026-02-10Z', '2026-02-11Z', '2026-02-12Z', '2026-02-12Z'`;

/** Stores what later tables hold: two requests, a conversion and a lead that the mirror saw, and three runs. */
export async function storeEvents(pool: Pool): Promise<void> {
  await pool.query(`
    insert into commission_updates (commission_id, action, paid_at, reason, batch_id, requested_by)
    values ('${COMMISSION}', 'pay', '2026-04-01Z', 'Ada asked for it', 'batch of Ada', 'Margaret');
    update commission_updates set state = 'rejected', outcome = 'Ada asked for it', note = 'Ada asked for it',
      finished_at = now();
    update referrals set conversion_state = 'lead', _observed_at = '2026-02-20T10:00:00Z' where id in ('r2', 'gone');
    update referrals set conversion_state = 'conversion', _observed_at = '2026-02-21T10:00:00Z' where id in ('r2', 'gone');
    insert into sync_runs (resource, mode, state, verified, rows_seen, rows_rejected, started_at, finished_at, plan)
    values ('affiliates', 'full', 'succeeded', true, 0, 0, '2026-03-01T00:00:00Z', '2026-03-01T00:01:00Z', null),
           ('referrals', 'full', 'partial', true, 2, 2, '2026-03-01T00:02:00Z', '2026-03-01T00:03:30Z', null),
           ('referrals', 'delta', 'succeeded', true, 0, 0, '2026-03-02T00:00:00Z', '2026-03-02T00:01:00Z', null);
    insert into sync_runs (resource, mode, state, started_at, finished_at, error_code, error)
    values ('commissions', 'full', 'failed', '2026-03-03T00:00:00Z', '2026-03-03T00:01:00Z', 'CONTRACT_VIOLATION',
            'the answer begins with {"email":"ada@example.com"');
    insert into held_back_deletions (resource, record_id, run_id) values ('referrals', 'r9', 2);
    insert into schema_drift (run_id, resource, field, kind, found, occurrences)
    values (1, 'affiliates', 'nickname', 'appeared', 'string', 3)`);
}

/** Stores an affiliate with so many overdue commissions of one sale each, all of the largest amount that there is. */
export async function storeLargestAmounts(pool: Pool, count: number): Promise<void> {
  const most = Number.MAX_SAFE_INTEGER;
  const figure = { cents: most };
  const stats = { currencies: { USD: { unpaid: figure, paid: { cents: 0 }, total: figure } } };
  await pool.query(
    `insert into affiliates (id, visitors, leads, conversions, commission_stats, _first_seen_at, _changed_at, _observed_at)
     values ('a1', 0, 0, 0, $1, now(), now(), now())`,
    [JSON.stringify(stats)],
  );
  await pool.query(
    `insert into sales (id, affiliate_id, currency, charge_amount_cents, sale_amount_cents, _first_seen_at, _changed_at, _observed_at)
     select 's' || n, 'a1', 'USD', $1::bigint, $1::bigint, now(), now(), now() from generate_series(1, $2::int) n`,
    [most, count],
  );
  await pool.query(
    `insert into commissions (id, sale_id, amount, currency, due_at, _first_seen_at, _changed_at, _observed_at)
     select 'c' || n, 's' || n, $1::bigint, 'USD', '2026-01-01Z', now(), now(), now() from generate_series(1, $2::int) n`,
    [most, count],
  );
}
