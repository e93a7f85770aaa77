// The states of a mirror that its pages tell apart, each made by SQL on a mirror with which all is well.

import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { buildAffiliate, buildCommission, buildReferral, buildSale } from '../../mirror/build-records.ts';
import { at, load } from '../../mirror/load.ts';

export interface State {
  readonly store: (pool: Pool) => Promise<unknown>;
  /** What the overview says of it, among others. */
  readonly says: readonly string[];
  /** What else looks otherwise than of a mirror that is well. */
  readonly places?: readonly string[];
}

const PAID = 'c1000000-0000-4000-8000-000000000001';
const UNPAID = 'c2000000-0000-4000-8000-000000000002';

/** Stores records, runs that succeeded, and a payment that did. */
export async function storeWell(pool: Pool): Promise<void> {
  const db = makeDatabase(pool);
  const affiliate = buildAffiliate({ id: 'a1' });
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records: [affiliate] }] });
  const referral = buildReferral({ id: 'r1', affiliate, created_at: new Date().toISOString() });
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(2), records: [referral] }] });
  const commissions = [PAID, UNPAID].map((id) =>
    buildCommission({
      id,
      sale: buildSale({ affiliate, referral }),
      amount: 1234,
      due_at: new Date().toISOString(),
    }),
  );
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(3), records: commissions }] });
  await pool.query(`
    insert into sync_runs (resource, mode, state, verified, requests, pages, rows_seen, rows_unchanged, distinct_seen,
      total_upstream, started_at, finished_at)
    select resource, mode, 'succeeded', true, 12, 12, 1200, 1200, 1200, 1200, now() - age - interval '3 minutes', now() - age
    from unnest(array['affiliates', 'referrals', 'commissions']) resource,
      (values ('full', interval '9 hours'), ('delta', interval '12 minutes')) ran (mode, age)
    order by age desc`);
  await pool.query(`
    insert into commission_updates (commission_id, action, paid_at, batch_id, requested_by)
    values ('${PAID}', 'pay', now(), 'march', 'Margaret');
    update commission_updates set state = 'applied', outcome = 'paid', finished_at = now(), attempts = 1`);
}

const well = (sql: string) => async (pool: Pool) => {
  await storeWell(pool);
  await pool.query(sql);
};

export const STATES: Readonly<Record<string, State>> = {
  'never synced': {
    store: async () => {},
    says: ['Not quite well', 'never synced'],
    places: ['/payments', '/payments/ledger', '/data', '/charts'],
  },
  well: {
    store: storeWell,
    says: ['All is well.'],
    places: [
      '/runs/1',
      '/payments',
      '/payments/ledger',
      '/payments/1',
      '/payments/batches/1',
      '/data',
      '/charts',
    ],
  },
  running: {
    store: well(`
      insert into sync_runs (resource, mode, started_at, heartbeat_at, pages, requests, distinct_seen, total_upstream)
      values ('referrals', 'full', now() - interval '30 seconds', now(), 15, 15, 1500, 6000),
             ('affiliates', 'full', now() - interval '1 second', now(), 0, 0, 0, null);
      insert into request_permits (priority, granted_at, returned_at, expires_at)
      select case when n < 4 then 'payments' else 'reads' end, now(), case when n > 1 then now() end,
        now() + interval '1 hour'
      from generate_series(1, 20) n;
      insert into commission_updates (commission_id, action, paid_at, requested_by) values ('${UNPAID}', 'pay', now(), 'test')`),
    says: [
      'All is well.',
      '1,500 of 6,000 records',
      'waiting for the first page',
      '1 request for payment under way',
    ],
    places: ['/runs/7', '/runs/8', '/payments', '/payments/2'],
  },
  failed: {
    store: well(`
      insert into sync_runs (resource, mode, state, finished_at, error_code, error)
      values ('affiliates', 'delta', 'failed', now(), 'API_UNAVAILABLE', 'the program answered 503');
      insert into commission_updates (commission_id, action, paid_at, requested_by) values ('${UNPAID}', 'pay', now(), 'test');
      update commission_updates set state = 'failed', outcome = 'given up', finished_at = now(), attempts = 9
      where commission_id = '${UNPAID}';
      insert into alerts (code, resource, what, fix, error_code, since, opened_at, resolved_at) values
        ('sync_failed', 'affiliates', 'the last sync of affiliates failed', 'affiliate-mirror doctor', 'API_UNAVAILABLE',
         now(), now(), null),
        ('stale', null, 'referrals: stale', 'affiliate-mirror sync', null, now(), now(), now());
      insert into alert_notices (alert_id, kind, channel, state, attempts, last_error_code)
      values (1, 'opened', 'webhook', 'sent', 1, null), (1, 'opened', 'email', 'given_up', 9, 'EAUTH')`),
    says: [
      'Not well',
      'The last sync of affiliates failed (API_UNAVAILABLE)',
      '1 payment request failed',
      'notified by webhook',
    ],
    places: ['/runs/7', '/payments', '/payments/2'],
  },
};
