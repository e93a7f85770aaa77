import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkParts } from '../../src/db/check-parts.ts';
import { checkSchema } from '../../src/db/check-schema.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { listPending, runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS_DIRECTORY } from '../../src/db/migration-files.ts';
import { makePool } from '../../src/db/pool.ts';
import { describeError } from '../../src/describe-error.ts';
import { ConfigError, MigrationFailed, SchemaMismatch } from '../../src/errors.ts';
import { makeLogger } from '../../src/log.ts';
import { buildReferral } from '../mirror/build-records.ts';
import { at, load, rowsOf } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let directory: string;
const pools: Pool[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
});

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
  await rm(directory, { recursive: true });
});

function poolOf(schema: string, max = 2): Pool {
  const pool = makePool(
    { log: makeLogger('silent') },
    { url: database.url, schema, max, applicationName: 'test' },
  );
  pools.push(pool);
  return pool;
}

async function failure(promise: Promise<unknown>): Promise<{ error: unknown; text: string }> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  return { error, text: describeError(error) };
}

const migrationNames = async () => (await readdir(MIGRATIONS_DIRECTORY)).toSorted();

test('ten processes that migrate at once apply every file once', async () => {
  const schema = 'raced';
  const runs = await Promise.all(
    Array.from({ length: 10 }, () => runMigrations(poolOf(schema, 1), { schema })),
  );
  expect(runs.flatMap(({ applied }) => applied)).toEqual(await migrationNames());
  await checkSchema(poolOf(schema), { schema });
});

test('two mirrors work side by side, each in its schema, and nothing is outside of them', async () => {
  const own = ['left', 'left_reports', 'right_one', 'right_one_reports'];
  const objects = async () =>
    (
      await database.pool.query<{ name: string }>(
        `select nspname || '.' || relname as name from pg_class join pg_namespace n on n.oid = relnamespace
         where nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and nspname <> all ($1)
         union all
         select nspname || '.' || proname from pg_proc join pg_namespace n on n.oid = pronamespace
         where nspname not in ('pg_catalog', 'information_schema') and nspname <> all ($1)
         order by 1`,
        [own],
      )
    ).rows;
  const before = await objects();
  const [left, right] = [poolOf('left'), poolOf('right_one')];
  await runMigrations(left, { schema: 'left' });
  await runMigrations(right, { schema: 'right_one' });
  expect(await objects()).toEqual(before);

  const [leftDb, rightDb] = [makeDatabase(left), makeDatabase(right)];
  const referral = buildReferral();
  for (const [second, visits] of [1, 2].entries()) {
    const pages = [{ observedAt: at(second), records: [{ ...referral, visits }] }];
    await load(leftDb, { resource: 'referrals', pages });
  }
  await load(rightDb, {
    resource: 'referrals',
    pages: [{ observedAt: at(9), records: [referral, buildReferral()] }],
  });
  expect(await rowsOf(leftDb, 'referrals')).toMatchObject([{ id: referral.id, visits: 2 }]);
  expect((await rowsOf(rightDb, 'referrals')).length).toBe(2);
  const changes = async (database: Database) => {
    const query = sql`select change from record_history where table_name = 'referrals' order by id`;
    return (await query.execute(database)).rows;
  };
  expect(await changes(leftDb)).toEqual([{ change: 'inserted' }, { change: 'updated' }]);
  expect(await changes(rightDb)).toEqual([{ change: 'inserted' }]);
});

test('a file that fails is named, and nothing of it remains while the files before it do', async () => {
  await writeFile(join(directory, '0001_good.sql'), 'create table good ();');
  await writeFile(join(directory, '0002_bad.sql'), 'create table half ();\n\ncreate tabel oops ();\n');
  const pool = poolOf('failing');
  const { error, text } = await failure(runMigrations(pool, { schema: 'failing', directory }));
  expect(error).toBeInstanceOf(MigrationFailed);
  expect(text).toBe('0002_bad.sql failed; nothing of it remains: syntax error at or near "tabel"');
  const tables = await pool.query(`select to_regclass('good') as good, to_regclass('half') as half`);
  expect(tables.rows).toEqual([{ good: 'good', half: null }]);
  await writeFile(join(directory, '0002_bad.sql'), 'create table half ();');
  expect(await runMigrations(pool, { schema: 'failing', directory })).toMatchObject({
    applied: ['0002_bad.sql'],
  });
});

test('a failure at run time says what Postgres says', async () => {
  await writeFile(
    join(directory, '0001_rows.sql'),
    'create table t (a int primary key);\ninsert into t values (1);\ninsert into t values (1);',
  );
  const { text } = await failure(runMigrations(poolOf('failing'), { schema: 'failing', directory }));
  expect(text).toContain('0001_rows.sql failed; nothing of it remains');
  expect(text).toContain('duplicate key value violates unique constraint "t_pkey"');
});

test('an applied file that was edited is refused by name, and so is a database that is newer', async () => {
  const schema = 'edited';
  const pool = poolOf(schema);
  await writeFile(join(directory, '0001_first.sql'), 'create table first ();\n');
  await writeFile(join(directory, '0002_second.sql'), 'create table second ();\n');
  await runMigrations(pool, { schema, directory });

  await writeFile(join(directory, '0001_first.sql'), 'create table first ();\r\n');
  expect(await runMigrations(pool, { schema, directory })).toEqual({
    applied: [],
    advanced: [],
    hasRemadeReports: false,
  });

  await writeFile(join(directory, '0001_first.sql'), 'create table first (a int);\n');
  const edited = await failure(runMigrations(pool, { schema, directory }));
  expect(edited.error).toBeInstanceOf(MigrationFailed);
  expect(edited.text).toContain('0001_first.sql was edited after it had been applied');
  const mismatch = await failure(checkSchema(pool, { schema, directory }));
  for (const { text } of [edited, mismatch]) {
    expect(text).toMatch(/: run the version of affiliate-mirror that made the schema, or restore the file$/);
  }

  await writeFile(join(directory, '0001_first.sql'), 'create table first ();\n');
  await rm(join(directory, '0002_second.sql'));
  const newer = await failure(runMigrations(pool, { schema, directory }));
  expect(newer.text).toContain(
    'the schema is newer than this version (it has 0002_second.sql): update affiliate-mirror',
  );
  expect((await failure(checkSchema(pool, { schema, directory }))).text).toBe(
    'the schema edited: the schema is newer than this version (it has 0002_second.sql): update affiliate-mirror',
  );
});

test('a schema without tables, or with too few of them, says which command fixes it', async () => {
  const schema = 'young';
  const pool = poolOf(schema);
  const none = await failure(checkSchema(pool, { schema }));
  expect(none.error).toBeInstanceOf(SchemaMismatch);
  expect(none.text).toBe('the schema young has no tables yet: run affiliate-mirror migrate');
  const [first, second] = await migrationNames();
  await copyFile(join(MIGRATIONS_DIRECTORY, String(first)), join(directory, String(first)));
  await runMigrations(pool, { schema, directory });
  expect((await failure(checkSchema(pool, { schema }))).text).toBe(
    `the schema young is older than this version (it lacks ${second}): run affiliate-mirror migrate`,
  );
});

test.each([
  'drop schema restored_reports cascade',
  'drop schema restored_reports cascade; create schema restored_reports',
])(
  'a mirror that was restored without its reports is found until migrate has made them again: %s',
  async (loss) => {
    const schema = 'restored';
    const pool = poolOf(schema);
    await runMigrations(pool, { schema });
    const found = () =>
      pool
        .query(
          `select pg_class.oid::regclass::text as view, pg_get_viewdef(pg_class.oid) as says,
           array(select coalesce(col_description(attrelid, attnum), '') from pg_attribute
                 where attrelid = pg_class.oid and attnum > 0 order by attnum) as comments
         from pg_class where relnamespace = to_regnamespace('restored_reports') order by 1`,
        )
        .then(({ rows }) => rows);
    const before = await found();
    const migrations = await migrationNames();
    await pool.query(loss);
    const { error, text } = await failure(checkParts(pool, schema));
    expect(error).toBeInstanceOf(SchemaMismatch);
    expect(text).toBe(
      'the schema restored_reports, which goes with restored, is missing or empty: run affiliate-mirror migrate, which makes its views again',
    );
    const due = { applied: [], advanced: [], hasRemadeReports: true };
    expect(await listPending(pool, { schema })).toEqual(due);
    expect(await found()).toEqual([]);
    expect(await runMigrations(pool, { schema })).toEqual(due);
    expect(await found()).toEqual(before);
    await checkParts(pool, schema);
    expect((await pool.query('select from schema_migrations')).rowCount).toBe(migrations.length);
    expect(await runMigrations(pool, { schema })).toEqual({ ...due, hasRemadeReports: false });
  },
);

test.each([
  ['affiliates', 'create table shared.affiliates (id bigint)'],
  // Of a late migration, and of a view.
  [
    'alerts, conversion_events',
    'create table shared.alerts (); create view shared.conversion_events as select 1',
  ],
  // Another mirror, in the schema of the reports.
  ['campaigns', 'create schema shared_reports; create table shared_reports.campaigns ()', 'shared_reports'],
  // What Rails, Ecto and golang-migrate have.
  ['schema_migrations', 'create table shared.schema_migrations (version text primary key)'],
])(
  'a schema with %s of something else is refused, and nothing is made',
  async (names, made, place = 'shared') => {
    const schema = 'shared';
    const pool = poolOf(schema);
    await pool.query(`create schema shared; ${made}`);
    const found = async () =>
      (
        await pool.query(
          `select nspname, array_agg(relname::text order by 1) from pg_namespace n
         left join pg_class on relnamespace = n.oid where nspname like 'shared%' group by 1 order by 1`,
        )
      ).rows;
    const before = await found();
    for (const migrate of [listPending, runMigrations]) {
      const { error, text } = await failure(migrate(pool, { schema }));
      expect(error).toBeInstanceOf(ConfigError);
      expect(text).toBe(
        `the schema ${place} has tables of something else under names that the mirror needs (${names}): set MIRROR_SCHEMA to the name of a schema for the mirror alone`,
      );
    }
    expect((await failure(checkSchema(pool, { schema }))).text).toContain(
      'the schema shared has no tables yet',
    );
    expect(await found()).toEqual(before);
    await pool.query('drop schema shared cascade');
  },
);

test('what else is in the schema is left alone', async () => {
  const schema = 'lived_in';
  const pool = poolOf(schema);
  await pool.query('create schema lived_in; create table lived_in.customers (id bigint)');
  expect((await runMigrations(pool, { schema })).applied).toEqual(await migrationNames());
});

test('a schema that was prepared for a user without the right to make schemas is used as it is', async () => {
  await database.pool.query(`
    create role plain_user login password 'plain';
    create schema prepared authorization plain_user;
    create schema prepared_reports authorization plain_user`);
  const url = new URL(database.url);
  url.username = 'plain_user';
  url.password = 'plain';
  const pool = makePool(
    { log: makeLogger('silent') },
    { url: url.href, schema: 'prepared', max: 1, applicationName: 'test' },
  );
  pools.push(pool);
  expect((await runMigrations(pool, { schema: 'prepared' })).applied).toEqual(await migrationNames());
  await Promise.all(pools.splice(0).map((open) => open.end()));
  await database.pool.query('drop schema prepared, prepared_reports cascade; drop role plain_user');
});
