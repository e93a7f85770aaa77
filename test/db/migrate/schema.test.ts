// The schema after all migrations, as an analyst sees it in psql.

import { expect, test } from 'vitest';
import { LISTED_RESOURCES } from '../../../src/contract/resources.ts';
import {
  checkParts,
  TABLE_WITHOUT_KEY,
  TRIGGERS,
  UNIQUE_INDEXES,
} from '../../../src/db/migrate/check-parts.ts';
import { COLUMN_TYPES } from '../../../src/decode/mirrored-tables.ts';
import { startRun } from '../../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../../support/database.ts';

const database = await createTestDatabase();

async function names(query: string): Promise<string[]> {
  const answer = await database.pool.query<{ name: string }>(query);
  return answer.rows.map(({ name }) => name);
}

test('every table, view, column, function and trigger has a comment', async () => {
  const lacking = await names(`
    select relname as name from pg_class
    where relnamespace = 'mirror'::regnamespace and relkind in ('r', 'v', 'm', 'p')
      and obj_description(oid, 'pg_class') is null
    union all
    select relname || '.' || attname from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'mirror'::regnamespace and relkind in ('r', 'v', 'm', 'p')
      and attnum > 0 and not attisdropped and col_description(attrelid, attnum) is null
    union all
    select proname || '()' from pg_proc
    where pronamespace = 'mirror'::regnamespace and obj_description(oid, 'pg_proc') is null
    union all
    select relname || ' trigger ' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace = 'mirror'::regnamespace and not tgisinternal
      and obj_description(pg_trigger.oid, 'pg_trigger') is null`);
  expect(lacking).toEqual([]);
});

test('the mirrored tables have just the columns that the load writes, with the metadata of each', async () => {
  const metadata = {
    _first_seen_at: 'timestamptz not null',
    _changed_at: 'timestamptz not null',
    _observed_at: 'timestamptz not null',
    _deleted_at: 'timestamptz',
    _extra: 'jsonb',
  };
  const numbered: readonly string[] = LISTED_RESOURCES;
  const answer = await database.pool.query<{ table: string; column: string; type: string }>(`
    select table_name as table, column_name as column,
           case udt_name when 'int8' then 'bigint' when 'bool' then 'boolean' when 'float8' then 'double precision' else udt_name end
             || case is_nullable when 'NO' then ' not null' else '' end as type
    from information_schema.columns
    where table_schema = 'mirror'`);
  for (const [table, { id, ...columns }] of Object.entries(COLUMN_TYPES)) {
    const found = answer.rows.filter((row) => row.table === table).map(({ column, type }) => [column, type]);
    const number = numbered.includes(table) ? { _row_number: 'bigint not null' } : {};
    expect(Object.fromEntries(found)).toEqual({ id: `${id} not null`, ...columns, ...metadata, ...number });
  }
});

test('no mirrored table has a foreign key or a check on what the program sends', async () => {
  const tables = Object.keys(COLUMN_TYPES)
    .map((table) => `'mirror.${table}'::regclass`)
    .join(', ');
  expect(
    await names(
      `select conname as name from pg_constraint where contype in ('f', 'c') and conrelid in (${tables})`,
    ),
  ).toEqual([]);
});

test('what requests name a commission by is of the collation of its identifier, or no index would find them', async () => {
  expect(
    await names(`
      select distinct collname as name from pg_attribute join pg_collation on pg_collation.oid = attcollation
      where attrelid in ('commissions'::regclass, 'commission_updates'::regclass) and attname in ('id', 'commission_id')`),
  ).toEqual(['C']);
});

test('every function that names a table is pinned to the schema that it was made in', async () => {
  expect(
    await names(`
      select proname as name from pg_proc
      where pronamespace = 'mirror'::regnamespace
        and exists (
          select from pg_class where relnamespace = pronamespace and prosrc ~ ('(from|join|into|update) ' || relname || '\\M')
        )
        and not exists (select from unnest(proconfig) setting where setting ~ '^search_path=mirror($|, )')`),
  ).toEqual([]);
});

test('every trigger and every unique index is among those that a restore must have made', async () => {
  expect(
    await names(`
      select relname || '.' || tgname as name from pg_trigger join pg_class on pg_class.oid = tgrelid
      where relnamespace = 'mirror'::regnamespace and not tgisinternal order by 1`),
  ).toEqual(TRIGGERS.toSorted());
  expect(
    await names(`
      select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = 'mirror'::regnamespace and indisunique and not indisprimary order by 1`),
  ).toEqual(UNIQUE_INDEXES.toSorted());
  expect(
    await names(`
      select relname as name from pg_class
      where relnamespace = 'mirror'::regnamespace and relkind = 'r'
        and not exists (select from pg_index where indrelid = pg_class.oid and indisprimary)`),
  ).toEqual([TABLE_WITHOUT_KEY]);
});

test('every identity has a key, so that no two rows have one number', async () => {
  expect(
    await names(`
      select table_name || '.' || column_name as name
      from information_schema.columns
      where table_schema = 'mirror' and is_identity = 'YES'
        and not exists (
          select from pg_index
          where indrelid = format('mirror.%I', table_name)::regclass and indisunique and indnkeyatts = 1
            and indkey[0] = ordinal_position)`),
  ).toEqual([]);
});

test.each([
  [
    'a trigger is gone',
    'drop trigger record_changes on referrals',
    'the trigger referrals.record_changes is missing',
  ],
  [
    'a trigger is off',
    'alter table commission_updates disable trigger check_request',
    'or off in the schema mirror',
  ],
  [
    'a key is gone',
    'alter table campaigns drop constraint campaigns_pkey',
    'the key of the table campaigns is missing',
  ],
  ['an index is gone', 'drop index sync_runs_one_running', 'the key sync_runs_one_running is missing'],
])('a mirror in which %s is found', async (_, loss, words) => {
  const { pool } = await createTestDatabase();
  await checkParts(pool, 'mirror');
  await pool.query(loss);
  await expect(checkParts(pool, 'mirror')).rejects.toThrow(words);
});

test('where somebody was forgotten, what keeps the person out must be there', async () => {
  const { pool } = await createTestDatabase();
  await pool.query(
    "select keep_out_forgotten(); insert into forgotten_people (forgotten_by) values ('test')",
  );
  await checkParts(pool, 'mirror');
  await pool.query('drop trigger forgotten_people on referrals');
  await expect(checkParts(pool, 'mirror')).rejects.toThrow('referrals.forgotten_people is missing');
});

test('the run log refuses counts that do not add up and success without verification', async () => {
  const insert = (columns: string, values: string) =>
    database.pool.query(`insert into sync_runs (resource, mode, ${columns}) values ('x', 'full', ${values})`);
  await expect(insert('rows_seen, rows_inserted', '2, 1')).rejects.toThrow('sync_runs_counts_add_up');
  await expect(insert('state, finished_at', `'succeeded', now()`)).rejects.toThrow(
    'sync_runs_only_a_verified_run_succeeds',
  );
  await expect(insert('rows_deleted', '1')).rejects.toThrow('sync_runs_only_a_verified_run_deletes');
  await expect(insert('state', `'failed'`)).rejects.toThrow('sync_runs_finished_when_not_running');
});

test('only the key that means an open run means that another sync runs', async () => {
  const { pool, db } = await createTestDatabase();
  await startRun(db, { resource: 'referrals', mode: 'full' });
  await expect(startRun(db, { resource: 'referrals', mode: 'full' })).rejects.toThrow(
    'another sync of referrals',
  );
  await pool.query(`create unique index theirs on sync_runs (mode) where state = 'running'`);
  await expect(startRun(db, { resource: 'affiliates', mode: 'full' })).rejects.toMatchObject({
    constraint: 'theirs',
  });
});
