// What the table keeps of a request, whoever writes to it: what was asked, by whom and when, and how it starts out.

import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const PAST = '2020-01-01T00:00:00Z';

/** Another value for each column that says what was asked. */
const ASKED: Readonly<Record<string, string>> = {
  id: '-1',
  batch_id: "'other'",
  commission_id: "'00000000-0000-4000-8000-000000000000'",
  action: "'unpay'",
  paid_at: `'${PAST}'`,
  due_at: `'${PAST}'`,
  expected_unpaid: 'true',
  expected_paid_at: `'${PAST}'`,
  expected_amount: '1',
  expected_currency: "'EUR'",
  payout_id: `'${ID}'`,
  expected_commissions: '3',
  reason: "'other'",
  requested_by: "'other'",
  database_user: "'other'",
  idempotency_key: "'other'",
  supersede: 'true',
  even_if_refunded: 'true',
  requested_at: `'${PAST}'`,
};

/** A value that no request starts out with, for each column that says what became of it. */
const BECAME: Readonly<Record<string, string>> = {
  state: "'applied'",
  outcome: "'o'",
  note: "'n'",
  before: "'{}'",
  after: "'{}'",
  attempts: '1',
  last_error: "'e'",
  put_sent_at: `'${PAST}'`,
  commission_ids: "'{}'",
  claimed_by: "'c'",
  claimed_until: `'${PAST}'`,
  finished_at: `'${PAST}'`,
};

const { pool } = await createTestDatabase();
await pool.query(
  `insert into commission_updates (commission_id, action, paid_at) values ($1, 'pay', now())`,
  [ID],
);

test('every column of a request is either what was asked, or what became of it', async () => {
  const { rows } = await pool.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'commission_updates'::regclass and attnum > 0 and not attisdropped`,
  );
  const known = [...Object.keys(ASKED), ...Object.keys(BECAME), 'next_attempt_at'];
  expect(rows.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
});

test.each(Object.entries(ASKED))('%s is never edited', async (column, value) => {
  const set = column === 'id' ? 'id = default' : `${column} = ${value}`;
  await expect(pool.query(`update commission_updates set ${set}`)).rejects.toThrow(/never edited/);
});

test.each(Object.entries(BECAME))('%s is left to the writer', async (column, value) => {
  const insertion = `insert into commission_updates (commission_id, action, ${column}) values ($1, 'unpay', ${value})`;
  await expect(pool.query(insertion, [ID])).rejects.toThrow('a request starts out as pending');
});

test('who asked, and when, is what the database knows, whatever the request says', async () => {
  const { rows } = await pool.query(
    `insert into commission_updates (commission_id, action, requested_by, database_user, requested_at)
     values ($1, 'unpay', ' ', 'boss', '${PAST}')
     returning requested_by = session_user as is_named, database_user = session_user as is_true,
       requested_at > now() - interval '1 hour' as is_now`,
    [ID],
  );
  expect(rows).toEqual([{ is_named: true, is_true: true, is_now: true }]);
});

test('nothing is deleted', async () => {
  await expect(pool.query('delete from commission_updates')).rejects.toThrow(/nothing is deleted/);
});
