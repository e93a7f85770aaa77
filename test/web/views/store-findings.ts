// A mirror with something of every kind that the pages show: runs that ended in every way, what they noticed, requests
// in every state with attempts, batches with hostile names. Identifiers and names that begin with `secret` are personal
// data.

import { END_STATES, type UpdateState } from '../../../src/contract/payment-request.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import {
  buildAffiliate,
  buildCommission,
  buildPaidOut,
  buildPayout,
  buildReferral,
  buildSale,
} from '../../mirror/build-records.ts';
import { at, load } from '../../mirror/load.ts';

/** Wherever text comes from the program or from people. */
export const HOSTILE = `<script>alert("secret & 'x'")</script>`;
/** Every piece of personal data in these rows has it. */
export const PERSONAL_MARK = 'secret';

export const COMMISSIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(
  (n) => `${String(n).repeat(8)}-0000-4000-8000-000000000000`,
);
/** It lists the first two commissions. */
export const PAYOUT = 'd0000000-0000-4000-8000-00000000000d';
export const AFFILIATE = 'a0000000-0000-4000-8000-00000000000a';
const REFERRAL = 'b0000000-0000-4000-8000-00000000000b';
const STATES: readonly UpdateState[] = ['pending', ...END_STATES];

/** Numbers of the runs, by what they are an example of. */
export const RUNS = {
  usual: 1,
  failed: 2,
  partial: 3,
  delta: 4,
  commissions: 5,
  interrupted: 6,
  skipped: 7,
  running: 8,
} as const;

/** Stores records by the real load, and what runs and payments leave behind by SQL. */
export async function storeFindings(pool: Pool): Promise<void> {
  const db = makeDatabase(pool);
  const affiliate = buildAffiliate({
    id: AFFILIATE,
    first_name: 'secret',
    last_name: HOSTILE,
    email: 'secret@example.com',
  });
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records: [affiliate] }] });
  const customer = {
    platform: 'stripe',
    id: 'cus_1',
    name: `secret ${HOSTILE}`,
    email: 'secret@example.org',
  };
  const referral = buildReferral({ id: REFERRAL, affiliate, customer, created_at: new Date().toISOString() });
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(2), records: [referral] }] });
  const sale = buildSale({ affiliate, referral });
  const commissions = COMMISSIONS.map((id, place) =>
    buildCommission({
      id,
      sale,
      amount: 1234,
      currency: place % 3 === 0 ? 'EUR' : 'USD',
      due_at: new Date().toISOString(),
    }),
  );
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(3), records: commissions }] });
  const listed = commissions
    .slice(0, 2)
    .map(({ id, amount, currency }) => buildPaidOut({ id, amount, currency }));
  const payout = buildPayout({ id: PAYOUT, affiliate, amount: 2468, commissions: listed });
  await load(db, { resource: 'payouts', pages: [{ observedAt: at(4), records: [payout] }] });
  await pool.query(`update optional_lists set setting = 'on' where resource = 'payouts'`);
  await storeRuns(pool);
  await storePayments(pool);
}

async function storeRuns(pool: Pool): Promise<void> {
  const delta = JSON.stringify({
    strategy: 'delta',
    moved_affiliates: 1,
    expected_requests: 3,
    full_walk_requests: 61,
  });
  const open = JSON.stringify({
    strategy: 'full',
    open_records: 12,
    moved_records: 4,
    expected_requests: 9,
    full_walk_requests: 8,
  });
  await pool.query(`
    insert into sync_runs (resource, mode, state, verified, requests, pages, rows_seen, rows_inserted, rows_updated,
      rows_unchanged, rows_rejected, rows_repeated, rows_deleted, deletes_held_back, total_upstream, distinct_seen,
      started_at, finished_at, attempt, error_code, error, plan)
    values
      ('affiliates', 'full', 'succeeded', true, 12, 11, 1234, 1000, 200, 30, 0, 4, 2, 0, 1230, 1230,
        now() - interval '3 hours', now() - interval '2 hours', 2, null, null, null),
      ('referrals', 'full', 'failed', false, 5, 4, 40, 40, 0, 0, 0, 0, 0, 0, null, 40,
        now() - interval '2 hours', now() - interval '119 minutes', 1, 'API_UNAVAILABLE', 'the program answered 503', null),
      ('referrals', 'full', 'partial', true, 61, 61, 6000, 0, 5, 5990, 2, 3, 0, 60, 5997, 5997,
        now() - interval '110 minutes', now() - interval '100 minutes', 1, null, '60 deletions held back', null),
      ('referrals', 'delta', 'succeeded', true, 3, 3, 7, 1, 1, 5, 0, 0, 0, 0, null, 7,
        now() - interval '90 minutes', now() - interval '89 minutes', 1, null, null, '${delta}'),
      ('commissions', 'delta', 'succeeded', true, 9, 8, 12, 0, 4, 8, 0, 0, 0, 0, 12, 12,
        now() - interval '80 minutes', now() - interval '79 minutes', 1, null, null, '${open}'),
      ('affiliates', 'full', 'interrupted', false, 2, 1, 100, 0, 0, 100, 0, 0, 0, 0, null, 100,
        now() - interval '70 minutes', now() - interval '69 minutes', 1, null, null, null),
      ('affiliates', 'delta', 'skipped', false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, 0,
        now() - interval '60 minutes', now() - interval '60 minutes', 1, null, 'another process syncs it', null),
      ('referrals', 'delta', 'running', false, 1, 1, 100, 100, 0, 0, 0, 0, 0, 0, null, 100,
        now() - interval '1 minute', null, 1, null, null, null)`);
  await pool.query(
    `
    insert into schema_drift (run_id, resource, field, kind, found, occurrences)
    values (3, 'referrals', 'customer.email', 'retyped', 'number', 2), (3, 'referrals', $1, 'appeared', 'string', 5997)`,
    [HOSTILE.replaceAll('secret', 'odd')],
  );
  const payload = JSON.stringify({ id: 'r', customer: { email: 17, name: `secret ${HOSTILE}` } });
  await pool.query(
    `
    insert into rejected_records (run_id, resource, record_id, reason, payload, observed_at)
    values (3, 'referrals', 'r1', $1, $2, now()), (3, 'referrals', null, 'secret words of no form', $2, now()),
           (3, 'referrals', 'r2', 'the database refused it (of_a_dba, SQLSTATE 23514)', $2, now()),
           (null, 'commissions', 'c1', $1, $2, now())`,
    [`customer.email: expected string, got "secret ${HOSTILE}"`, payload],
  );
  await pool.query(`
    insert into held_back_deletions (resource, record_id, run_id, accepted_at, accepted_by)
    select 'referrals', 'gone ' || lpad(n::text, 3, '0'), 3, case when n = 1 then now() end,
           case when n = 1 then 'secret admin' end
    from generate_series(1, 59) n
    union all select 'referrals', '${REFERRAL}', 3, null, null`);
}

async function storePayments(pool: Pool): Promise<void> {
  for (const [place, state] of STATES.entries()) {
    await pool.query(
      `
      insert into commission_updates (commission_id, action, paid_at, reason, batch_id, requested_by)
      values ($1, 'pay', '2026-04-01Z', $2, $3, $4)`,
      [
        COMMISSIONS[place],
        `secret reason ${HOSTILE}`,
        place < 3 ? `secret/../batch?${HOSTILE}` : null,
        'secret Margaret',
      ],
    );
    if (state === 'pending') continue;
    await pool.query(
      `
      update commission_updates set state = $2, outcome = 'secret outcome', note = 'secret note', finished_at = now(),
        attempts = 2
      where commission_id = $1`,
      [COMMISSIONS[place], state],
    );
  }
  await pool.query(`
    insert into commission_update_attempts (update_id, method, sent_at, duration_ms, status, error_code, error, sent)
    values (7, 'GET', now(), 12, 200, null, null, null),
           (7, 'PUT', now(), 1500, 503, 'API_UNAVAILABLE', 'secret said the program', 'paid_at=2026-04-01'),
           (7, 'PUT', now(), null, null, null, null, 'paid_at=2026-04-01')`);
  await pool.query(`
    insert into exports (target, object, kind, watermark, rows, location, began_at)
    values ('/var/exports', 'referrals', 'changes', now(), 12, '/var/exports/x', now())`);
}
