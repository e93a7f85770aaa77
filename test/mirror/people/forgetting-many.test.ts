// Forgetting among very many rows, names and letters: nothing is left out, and no text takes for ever.

import { expect, test } from 'vitest';
import { useMirror } from '../mirror.ts';
import { findText } from './marked-program.ts';

const EMAIL = 'maria@people.example';
/** More than twice what is rewritten at a time, and more than is looked through at a time. */
const ROWS = 5003;

const mirror = useMirror();

test('of very many rows none is left: referrals, their history, and records that were refused', async () => {
  const { pool, forget } = mirror();
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
  const { records, counts } = await forget(EMAIL);
  expect(records).toEqual({ affiliates: 0, referrals: ROWS, links: 0 });
  expect(Object.fromEntries(counts)).toEqual({
    referrals: ROWS,
    record_history: ROWS,
    rejected_records: ROWS,
  });
  expect(await findText(mirror(), 'maria')).toEqual([]);
});

test('a text that has many of the names of a hundred people, or none, and one of a megabyte without a space', async () => {
  const { pool, sync, forget, rows } = mirror();
  const names = Array.from({ length: 100 }, (_, n) => `First${n * 7919} Middle Last${n * 104_729}`);
  await sync(
    'referrals',
    ...names.map((name) => ({ customer: { platform: null, id: null, name, email: EMAIL } })),
  );
  await pool.query(`
    insert into commission_updates (commission_id, action, reason)
    select gen_random_uuid()::text, 'unpay',
      case n when 1 then 'for Last104729, first7919 middle' else repeat('another asked for it, ', 10) || n end
    from generate_series(1, 500) n`);
  await forget(EMAIL);
  expect(await rows('select reason from commission_updates order by id limit 1')).toEqual([
    { reason: 'for [forgotten]' },
  ]);
  expect(
    await rows(
      `select names_forgotten('@' || repeat('x', 1000000)) as one, names_forgotten(repeat('a', 1000000) || '@') as other`,
    ),
  ).toEqual([{ one: false, other: false }]);
});
