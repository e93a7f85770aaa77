import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeError } from '../../../src/base/describe-error.ts';
import { ConfigError, MigrationFailed, SchemaMismatch } from '../../../src/base/errors.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { checkParts } from '../../../src/db/migrate/check-parts.ts';
import { checkSchema, listPending, runMigrations } from '../../../src/db/migrate/migrate.ts';
import { MIGRATIONS_DIRECTORY, readMigrationFiles } from '../../../src/db/migrate/migration-files.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeDirectory } from '../../support/directory.ts';

let database: TestDatabase;
let directory: string;
const pools: Pool[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  directory = await makeDirectory();
});

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
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

const migrationNames = async () => (await readMigrationFiles(MIGRATIONS_DIRECTORY)).map(({ name }) => name);

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

  await left.query("insert into forgotten_people (forgotten_by) values ('test')");
  for (const [pool, count] of [
    [left, 1],
    [right, 0],
  ] as const) {
    expect((await pool.query('select from forgotten_people')).rowCount).toBe(count);
  }
});

test('a file that fails is named, and nothing remains of it or of the files before it', async () => {
  await writeFile(join(directory, '0001_good.sql'), 'create table good ();');
  await writeFile(join(directory, '0002_bad.sql'), 'create table half ();\n\ncreate tabel oops ();\n');
  const pool = poolOf('failing');
  const { error, text } = await failure(runMigrations(pool, { schema: 'failing', directory }));
  expect(error).toBeInstanceOf(MigrationFailed);
  expect(text).toBe('0002_bad.sql failed; nothing was changed: syntax error at or near "tabel"');
  const schemas = await pool.query(`select from pg_namespace where nspname like 'failing%'`);
  expect(schemas.rowCount).toBe(0);
  await writeFile(join(directory, '0002_bad.sql'), 'create table half ();');
  expect(await runMigrations(pool, { schema: 'failing', directory })).toMatchObject({
    applied: ['0001_good.sql', '0002_bad.sql'],
  });
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
    const due = { applied: [], hasRemadeReports: true };
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
