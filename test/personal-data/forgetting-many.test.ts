// A person with more records than are read at a time, in a table whose rows lie in no order.

import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { createTestDatabase } from '../support/database.ts';
import { findText, PLAIN } from './marked-program.ts';

const EMAIL = 'maria@people.example';
/** More than twice what is rewritten at a time, and more than is looked through at a time. */
const ROWS = 5003;

test('of very many rows none is left: referrals, their history, and records that were refused', async () => {
  const database = await createTestDatabase();
  const { pool } = database;
  // An analysis in between would keep the most common values: VACUUM, which the command runs, is not part of this.
  for (const table of ['referrals', 'record_history', 'rejected_records']) {
    await pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
  }
  await pool.query(`
    create temporary table numbers as select lpad(n::text, 5, '0') as id from generate_series(1, ${ROWS}) n order by n desc;
    insert into referrals (id, created_at, customer_email, _first_seen_at, _changed_at, _observed_at)
      select id, now(), '${EMAIL}', now(), now(), now() from numbers;
    insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
      select 'referrals', id, 'updated', '{"customer_name": "Maria A"}', '{"customer_name": "Maria B"}', now(), now()
      from numbers;
    insert into rejected_records (resource, record_id, reason, payload, observed_at)
      select 'referrals', id, 'visits', '{"email": "${EMAIL}"}', now() from numbers;
    drop table numbers`);
  const { records, counts } = await forgetPerson(makeDatabase(pool), PLAIN, { who: EMAIL, by: 'privacy' });
  expect(records).toEqual({ affiliates: 0, referrals: ROWS, links: 0 });
  expect(Object.fromEntries(counts)).toEqual({
    referrals: ROWS,
    record_history: ROWS,
    rejected_records: ROWS,
  });
  expect(await findText(database, 'maria')).toEqual([]);
});
