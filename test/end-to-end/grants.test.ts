// Roles of the database: a DBA who makes the schemas, one role that migrates, and weaker ones that read and ask.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ANALYST_RELATIONS, BOOKKEEPING_TABLES } from '../../src/db/relations.ts';
import {
  environment,
  grant,
  queryAs,
  queryAsDba,
  ROLES,
  refused,
  unpaidCommissions,
  useRoles,
} from '../support/roles.ts';
import { runCli } from '../support/run-cli.ts';

const AT = '2026-10-01T12:00:00Z';

useRoles();

describe('A DBA makes the schemas, and grants nothing on the database', () => {
  test('migrate works, and works again', async () => {
    const first = await runCli(['migrate'], environment('owner'));
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(await runCli(['migrate'], environment('owner'))).toMatchObject({ code: 0, stderr: '' });
  });

  test('a schema that is missing is named, with what the DBA has to run', async () => {
    const other = { ...environment('owner'), MIRROR_SCHEMA: 'elsewhere' };
    const { code, stderr } = await runCli(['migrate'], other);
    expect(stderr).toMatch(
      /^affiliate-mirror: this role may not make the schema elsewhere: have a DBA run .*\n$/,
    );
    expect(code).toBe(1);
    await queryAsDba(`create schema elsewhere authorization ${ROLES.owner}`);
    const reports = await runCli(['migrate'], other);
    expect(reports.stderr).toContain('this role may not make the schema elsewhere_reports');
    expect(reports.code).toBe(1);
    await queryAsDba(`create schema elsewhere_reports authorization ${ROLES.owner}`);
    const queue = await runCli(['migrate'], other);
    expect(queue.stderr).toContain('this role may not make the schema elsewhere_queue');
    expect(queue.code).toBe(1);
    await queryAsDba('drop schema elsewhere, elsewhere_reports cascade');
  });
});

test('every table and view of the mirror is for analysts, or is bookkeeping', async () => {
  const named = async (isBookkeeping: boolean) =>
    queryAsDba(`
      select relname as name from pg_class
      where relnamespace = 'mirror'::regnamespace and relkind in ('r', 'v')
        and (obj_description(oid, 'pg_class') ilike '%nothing for analysis%') = ${isBookkeeping}
      order by relname`);
  const sorted = (names: readonly string[]) => names.toSorted().map((name) => ({ name }));
  expect(await named(true)).toEqual(sorted(BOOKKEEPING_TABLES));
  expect(await named(false)).toEqual(sorted(ANALYST_RELATIONS));
});

describe('A role without grants', () => {
  test.each([['sync'], ['status'], ['work'], ['commissions', 'status']])(
    '%s: one line that names the command grants',
    async (...args) => {
      const { code, stderr } = await runCli(args, environment('nobody'));
      expect(stderr).toMatch(/^affiliate-mirror: .*affiliate-mirror grants worker.*\n$/m);
      expect(code).toBe(1);
    },
  );

  test('doctor says what is lacking', async () => {
    const { code, stdout } = await runCli(['doctor'], environment('nobody'));
    expect(stdout).toMatch(
      /^✗ rights: the role nobody_\w+ lacks usage on schema mirror; .* and \d+ more: have the owner .*"affiliate-mirror grants worker --role nobody_/m,
    );
    expect(code).toBe(1);
  });

  test('migrate and sync --migrate are for the owner', async () => {
    for (const args of [['migrate'], ['sync', '--migrate']]) {
      const { code, stderr } = await runCli(args, environment('nobody'));
      expect(stderr).toContain('migrate is for the owner of the schema');
      expect(code).toBe(1);
    }
  });
});

describe('A role for analysts', () => {
  test('grants analyst is enough for the reports, and for nothing else', async () => {
    await grant('analyst');
    expect(await queryAs('analyst', 'select * from mirror_reports.freshness')).toHaveLength(4);
    await refused('analyst', 'select * from mirror.affiliates');
    await refused('analyst', 'select * from mirror_queue.job');
    await queryAs('owner', 'create view mirror_reports.later as select 1 as one');
    expect(await queryAs('analyst', 'select * from mirror_reports.later')).toEqual([{ one: 1 }]);
    await queryAs('owner', 'drop view mirror_reports.later');
  });

  test('grants analyst is enough to export the reports, and not the tables', async () => {
    const args = ['--format', 'csv', '-o', '-'];
    const reports = await runCli(['export', 'freshness', ...args], environment('analyst'));
    expect(reports).toMatchObject({ code: 0, stderr: 'written: stdout (4 rows)\n' });
    for (const more of [
      ['mirror.referrals', '-o', '-'],
      ['referrals', '--incremental', '-o', join(tmpdir(), 'exports-of-nobody/')],
    ]) {
      const tables = await runCli(['export', ...more, '--format', 'csv'], environment('analyst'));
      expect(tables.stderr).toMatch(
        /^affiliate-mirror: this role .* lacks a right: "affiliate-mirror grants worker\|analyst\|analyst_pii\|payroll" .*\n$/,
      );
      expect(tables.code).toBe(1);
    }
  });
});

describe('A role for analysts who may see personal data', () => {
  test('grants analyst_pii is enough for every table and view of analysis, and for no other', async () => {
    await grant('analyst_pii');
    for (const name of ANALYST_RELATIONS) {
      await queryAs('analyst_pii', `select * from mirror.${name} limit 1`);
    }
    await queryAs('analyst_pii', `select count(*) from mirror.referrals_at('2026-01-01')`);
    await queryAs('analyst_pii', 'select * from mirror_reports.affiliates');
    for (const name of BOOKKEEPING_TABLES) await refused('analyst_pii', `select * from mirror.${name}`);
    await refused('analyst_pii', 'select * from mirror_queue.job');
    await refused('analyst_pii', 'delete from mirror.affiliates');
    await refused('analyst_pii', 'insert into mirror.tracked_commissions (commission_id) values (1)');
    await queryAs('owner', 'create table mirror.later (a int)');
    expect(await queryAs('analyst_pii', 'select * from mirror.later')).toEqual([]);
    await queryAs('owner', 'drop table mirror.later');
  });

  test('grants analyst_pii is enough to export tables', async () => {
    const args = ['export', 'mirror.referrals', '--format', 'csv', '-o', '-'];
    expect(await runCli(args, environment('analyst_pii'))).toMatchObject({ code: 0 });
  });
});

describe('A role for payroll', () => {
  test('grants payroll is enough to ask and to read, and for no more', async () => {
    await grant('payroll');
    const [first = '', second = ''] = await unpaidCommissions(2);
    await queryAs(
      'payroll',
      `insert into mirror.commission_updates (commission_id, action, paid_at, reason) values ('${first}', 'pay', '2026-10-01', 'payroll')`,
    );
    const pay = await runCli(['commissions', 'pay', second, '--at', AT], environment('payroll'));
    expect(pay).toMatchObject({ code: 0 });
    expect(await runCli(['commissions', 'status', second], environment('payroll'))).toMatchObject({
      code: 0,
    });
    const asked = `select state, database_user from mirror.commission_updates where commission_id in ('${first}', '${second}')`;
    const own = { state: 'pending', database_user: ROLES.payroll };
    expect(await queryAs('payroll', asked)).toEqual([own, own]);
    expect(await queryAs('payroll', 'select * from mirror.commission_ledger limit 1')).toHaveLength(1);
    for (const text of [
      'select * from mirror.affiliates',
      'select * from mirror.commissions',
      `update mirror.commission_updates set state = 'cancelled'`,
      'delete from mirror.commission_updates',
      `insert into mirror.commission_updates (commission_id, action, paid_at, state) values ('${first}', 'pay', now(), 'applied')`,
      'select * from mirror_queue.job',
    ]) {
      await refused('payroll', text);
    }
  });
});
