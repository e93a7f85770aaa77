// Row level security, with which no row is an answer that may be false: Postgres refuses instead, and it is said which
// table that is about, and what to do.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { environment, grant, queryAs, queryAsDba, ROLES, useRoles } from '../support/roles.ts';
import { runCli } from '../support/run-cli.ts';

useRoles();

let address: string;

beforeAll(async () => {
  expect(await runCli(['sync', '--migrate'], environment('owner'))).toMatchObject({ code: 0 });
  await grant('worker');
  const [first] = await queryAsDba('select email from mirror.affiliates order by id limit 1');
  address = String(first?.['email']);
  expect(await runCli(['forget', address], environment('owner'))).toMatchObject({ code: 0 });
});

afterEach(async () => {
  const tables = await queryAsDba(
    `select oid::regclass::text as name from pg_class where relrowsecurity and relnamespace = 'mirror'::regnamespace`,
  );
  for (const { name } of tables) {
    await queryAsDba(`alter table ${name} disable row level security, no force row level security`);
  }
});

const secure = (table: string, more = '') =>
  queryAs('owner', `alter table mirror.${table} enable row level security ${more}`);

const says = (table: string) =>
  new RegExp(
    `^affiliate-mirror: .*row level security would leave out rows, so Postgres refuses: have its owner run "alter table … disable row level security" \\("no force row level security" for the owner itself\\), or a superuser "alter role … bypassrls": query would be affected by row-level security policy for table "${table}"`,
    'm',
  );

describe('For a role that owns nothing', () => {
  test.each([
    ['forgotten_records', ['sync', 'affiliates']],
    ['commissions', ['commissions', 'payable']],
    ['sync_runs', ['status']],
  ])('rows of %s are never taken for none: %s', async (table, command) => {
    await secure(table);
    const { code, stdout, stderr } = await runCli(command, environment('worker'));
    expect(stderr).toMatch(says(table));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const plain = await queryAsDba(`select from mirror.affiliates where email = '${address}'`);
    expect(plain).toEqual([]);
  });

  test('doctor names the table and what to do, a worker does not start, and with bypassrls all is well', async () => {
    await secure('commission_updates');
    await secure('forgotten_people');
    const line = `row level security would leave out rows of mirror.commission_updates, so Postgres refuses to read it: have its owner run "alter table mirror.commission_updates disable row level security" ("no force row level security" for the owner itself), or a superuser "alter role ${ROLES.worker} bypassrls"`;
    const found = await runCli(['doctor'], environment('worker'));
    expect(found.stdout).toContain(`✗ rights: ${line}\n`);
    expect(found.code).toBe(1);
    const worker = await runCli(['work'], environment('worker'));
    expect(worker.stderr.trimEnd().split('\n').at(-1)).toBe(`affiliate-mirror: ${line}`);
    expect(worker.code).toBe(1);
    await queryAsDba(`alter role ${ROLES.worker} bypassrls`);
    expect(await runCli(['doctor'], environment('worker'))).toMatchObject({
      code: 0,
      // It knows nothing of a sync that failed.
      stdout: expect.stringMatching(
        /checks, 0 failed\. The setup is well; for the mirror, run affiliate-mirror status\.\n$/,
      ),
    });
    await queryAsDba(`alter role ${ROLES.worker} nobypassrls`);
  });
});

test('For an owner for whom it is forced, the same is said with what an owner can do', async () => {
  await secure('commissions', ', force row level security');
  const { code, stderr } = await runCli(['commissions', 'payable'], environment('owner'));
  expect(stderr).toMatch(says('commissions'));
  expect(code).toBe(1);
  const { stdout } = await runCli(['doctor'], environment('owner'));
  expect(stdout).toContain('row level security would leave out rows of mirror.commissions');
});
