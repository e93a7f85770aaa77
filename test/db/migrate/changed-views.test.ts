// Functions and views whose files changed since they were applied.

import { appendFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeError } from '../../../src/base/describe-error.ts';
import { MigrationFailed, SchemaMismatch } from '../../../src/base/errors.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { checkSchema, listPending, runMigrations } from '../../../src/db/migrate/migrate.ts';
import { MIGRATIONS_DIRECTORY } from '../../../src/db/migrate/migration-files.ts';
import { createTestDatabase } from '../../support/database.ts';
import { makeDirectory } from '../../support/directory.ts';

const database = await createTestDatabase();

/** Returns a pool and a directory with a table and two views, the second of the first, which are applied. */
async function openViews(schema: string) {
  const directory = await makeDirectory();
  await writeFile(
    join(directory, '0001_kept.sql'),
    'create table kept (a integer); insert into kept values (1);',
  );
  await mkdir(join(directory, 'views'));
  const define = (columns: string) =>
    writeFile(
      join(directory, 'views/shown.sql'),
      `create or replace view shown as select ${columns} from kept;`,
    );
  await define('a');
  await writeFile(join(directory, 'views/upper.sql'), 'create or replace view upper as select * from shown;');
  const pool = makePool(
    { log: makeLogger('silent') },
    { url: database.url, schema, max: 2, applicationName: 'test' },
  );
  onTestFinished(() => pool.end());
  await runMigrations(pool, { schema, directory });
  await pool.query(`grant select on shown to pg_monitor; create view users_own as select a from shown`);
  return { pool, directory, define, target: { schema, directory } };
}

async function shown(pool: Pool): Promise<unknown> {
  const { rows } = await pool.query(
    `select to_jsonb(shown) as row, has_table_privilege('pg_monitor', 'shown', 'select') as is_granted from shown`,
  );
  return rows;
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

test('a view that gets a column is replaced below the views of users, and keeps its grants', async () => {
  const { pool, define, target } = await openViews('grown');
  await define('a, 2 as b');
  const older = await failure(checkSchema(pool, target));
  expect(older).toBeInstanceOf(SchemaMismatch);
  expect(describeError(older)).toContain('older than this version (it lacks views/shown.sql)');
  expect(await listPending(pool, target)).toMatchObject({ applied: ['views/shown.sql'] });
  expect(await runMigrations(pool, target)).toMatchObject({ applied: ['views/shown.sql'] });
  expect(await shown(pool)).toEqual([{ row: { a: 1, b: 2 }, is_granted: true }]);
  expect((await pool.query('select * from users_own')).rows).toEqual([{ a: 1 }]);
  await checkSchema(pool, target);
  expect(await runMigrations(pool, target)).toMatchObject({ applied: [] });
});

test('a view whose columns change otherwise is made anew with its grants, unless a view of users depends on it', async () => {
  const { pool, define, target } = await openViews('renamed');
  await define('a as z');
  const refused = await failure(runMigrations(pool, target));
  expect(refused).toBeInstanceOf(MigrationFailed);
  expect(describeError(refused)).toMatch(
    /users' views depend on them \(view users_own depends on view shown\): drop those, run affiliate-mirror migrate/,
  );
  expect(await shown(pool)).toEqual([{ row: { a: 1 }, is_granted: true }]);
  await pool.query('drop view users_own');
  expect(await runMigrations(pool, target)).toMatchObject({ applied: ['views/shown.sql'] });
  expect(await shown(pool)).toEqual([{ row: { z: 1 }, is_granted: true }]);
  expect((await pool.query('select * from upper')).rows).toEqual([{ z: 1 }]);
});

test('a view that a newer version changed is not changed back', async () => {
  const { pool, target } = await openViews('newer');
  await pool.query(
    `update schema_migrations set version = '10.0.0', sha256 = 'x' where name = 'views/shown.sql'`,
  );
  for (const attempt of [runMigrations, listPending, checkSchema]) {
    expect(describeError(await failure(attempt(pool, target)))).toContain(
      'the schema is newer than this version (it has views/shown.sql): update affiliate-mirror',
    );
  }
});

test('a migrate that meets others in a deadlock is done again', async () => {
  const { pool, directory, define, target } = await openViews('crossed');
  await writeFile(
    join(directory, '0002_locks.sql'),
    `set local deadlock_timeout = '4s';
     lock table kept in share row exclusive mode; lock table shown in access exclusive mode`,
  );
  await define('a, 2 as b');
  const other = await pool.connect();
  onTestFinished(() => other.release());
  await other.query(`set deadlock_timeout = '1h'; begin; select from shown`);
  const waiting = `select from pg_locks where relation = 'shown'::regclass and not granted`;
  const migrated = runMigrations(pool, target);
  await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(1);
  // Postgres ends who has waited for its deadlock_timeout: that is migrate, unless this takes longer than its 4 seconds.
  await other.query('lock table kept in row exclusive mode; commit');
  expect(await migrated).toMatchObject({ applied: ['0002_locks.sql', 'views/shown.sql'] });
  expect(await shown(pool)).toEqual([{ row: { a: 1, b: 2 }, is_granted: true }]);
});

test('functions and views that are applied again are as they were', async () => {
  const { pool } = database;
  const directory = await makeDirectory();
  await cp(MIGRATIONS_DIRECTORY, directory, { recursive: true });
  await appendFile(join(directory, 'functions/request_budget.sql'), '-- changed\n');
  const readAll = async () =>
    (
      await pool.query(
        `select pg_get_functiondef(oid) as made, proacl::text as rights from pg_proc where pronamespace = 'mirror'::regnamespace
         union all
         select relname || pg_get_viewdef(oid), relacl::text from pg_class
         where relkind = 'v' and relnamespace in ('mirror'::regnamespace, 'mirror_reports'::regnamespace)
         union all
         select pg_get_triggerdef(oid), tgenabled::text from pg_trigger where not tgisinternal
         union all
         select pg_describe_object(classoid, objoid, objsubid), description from pg_description
         where objoid > 16384
         order by 1, 2`,
      )
    ).rows;
  const before = await readAll();
  expect(before.length).toBeGreaterThan(500);
  expect(await runMigrations(pool, { schema: 'mirror', directory })).toMatchObject({
    applied: ['functions/request_budget.sql'],
  });
  expect(await readAll()).toEqual(before);
});
