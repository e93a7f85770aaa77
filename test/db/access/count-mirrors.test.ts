// What doctor and migrate say of a database with more mirrors than are tested.

import { expect, test } from 'vitest';
import { adviseOnMirrors } from '../../../src/db/access/count-mirrors.ts';
import { createTestDatabase } from '../../support/database.ts';
import { runCli } from '../../support/run-cli.ts';

const database = await createTestDatabase();
const environment = { DATABASE_URL: database.url, API_RATE_LIMIT: 'none' };

/** Makes the table by which a mirror is known, in so many schemas. */
const make = (count: number) =>
  database.pool.query(`
    do $$ begin
      for n in 1..${count} loop
        execute format('create schema other_%s create table schema_migrations (sha256 text)', n);
      end loop;
    end $$`);

test('of a hundred mirrors nothing is said; of more, the number and the setting', async () => {
  // The template has two; a table of that name that another program made is no mirror.
  await database.pool.query(
    'create schema foreign_one create table schema_migrations (version text); create schema foreign_two create view schema_migrations as select 1 as sha256',
  );
  await make(98);
  expect(await adviseOnMirrors(database.pool)).toBe(null);
  expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0, stderr: '' });

  await database.pool.query('create schema other_100 create table schema_migrations (sha256 text)');
  const advice = await adviseOnMirrors(database.pool);
  expect(advice).toMatch(
    /^it has 101 mirrors, and 100 are tested: keep further programs in another database/,
  );
  const { rows } = await database.pool.query<{ needed: number; locks: number }>(
    `select ceil(101 * 64 / current_setting('max_connections')::numeric)::int as needed,
            current_setting('max_locks_per_transaction')::int as locks`,
  );
  const [{ needed, locks } = { needed: 0, locks: 0 }] = rows;
  expect(advice).toContain(
    locks >= needed
      ? 'is high enough'
      : `set max_locks_per_transaction of Postgres to ${needed} (now ${locks})`,
  );
  const migrated = await runCli(['migrate'], environment);
  expect(migrated).toMatchObject({ code: 0 });
  expect(migrated.stderr).toMatch(
    /^affiliate-mirror: .*: it has 101 mirrors, .*max_locks_per_transaction.*\n$/,
  );
  const { stdout } = await runCli(['doctor'], environment);
  expect(stdout).toMatch(/^✓ database: .* answers; it has 101 mirrors, .*max_locks_per_transaction/m);
});
