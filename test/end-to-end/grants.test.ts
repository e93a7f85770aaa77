// Roles of a database in which PUBLIC has nothing: a DBA makes the schemas, one role migrates, and what `grants` prints
// is enough for the weaker ones, and for no more. What the analysts' roles read is in reports/analyst-roles.test.ts.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeGrants } from '../../src/db/access/grants.ts';
import { ANALYST_RELATIONS, BOOKKEEPING_TABLES } from '../../src/db/relations.ts';
import { startCommandWorker } from '../support/command-worker.ts';
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

let name = '';

useRoles();

beforeAll(async () => {
  name = String((await queryAsDba('select current_database() as name'))[0]?.['name']);
  await queryAsDba(`
    revoke all on database ${name} from public;
    grant connect on database ${name} to ${ROLES.owner}, ${ROLES.nobody};
    revoke all on schema public from public;
    revoke usage on language plpgsql, sql from public;
    grant usage on language plpgsql, sql to ${ROLES.owner};
    alter default privileges for role ${ROLES.owner} revoke execute on functions from public;
    alter default privileges for role ${ROLES.owner} revoke usage on types from public`);
  expect(await runCli(['migrate'], environment('owner'))).toMatchObject({ code: 0, stderr: '' });
});

describe('A DBA makes the schemas, and grants nothing on the database', () => {
  test('migrate works again', async () => {
    expect(await runCli(['migrate'], environment('owner'))).toMatchObject({ code: 0, stderr: '' });
  });

  test('a schema that is missing is named, with what the DBA has to run', async () => {
    for (const schema of ['elsewhere', 'elsewhere_reports', 'elsewhere_queue']) {
      const other = { ...environment('owner'), MIRROR_SCHEMA: 'elsewhere' };
      const { code, stderr } = await runCli(['migrate'], other);
      expect(stderr).toMatch(
        new RegExp(`^affiliate-mirror: this role may not make the schema ${schema}: have a DBA run .*\n$`),
      );
      expect(code).toBe(1);
      await queryAsDba(`create schema ${schema} authorization ${ROLES.owner}`);
    }
    await queryAsDba('drop schema elsewhere, elsewhere_reports, elsewhere_queue cascade');
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

test.each([
  [['sync'], /^affiliate-mirror: .*affiliate-mirror grants worker.*\n$/m],
  [['status'], /^affiliate-mirror: .*affiliate-mirror grants worker.*\n$/m],
  [['work'], /^affiliate-mirror: .*affiliate-mirror grants worker.*\n$/m],
  [['commissions', 'status'], /^affiliate-mirror: .*affiliate-mirror grants worker.*\n$/m],
  [['migrate'], /migrate is for the owner of the schema/],
  [['sync', '--migrate'], /migrate is for the owner of the schema/],
  [
    ['doctor'],
    /^✗ rights: the role nobody_\w+ lacks usage on schema mirror; .* and \d+ more: have the owner .*"affiliate-mirror grants worker --role nobody_/m,
  ],
])('A role without grants is told what it lacks: %j', async (args, says) => {
  const { code, stdout, stderr } = await runCli(args, environment('nobody'));
  expect(stdout + stderr).toMatch(says);
  expect(code).toBe(1);
});

async function ownedBy(owner: string): Promise<void> {
  // The former owner loses what it could do as that.
  await queryAsDba(
    `alter database ${name} owner to ${owner}; grant connect on database ${name} to ${ROLES.owner}`,
  );
}

test('who may not grant the right to connect is told who can, and grants nothing', async () => {
  const text = describeGrants('analyst', { role: ROLES.analyst, schema: 'mirror', queueSchema: null });
  await expect(queryAs('owner', text)).rejects.toMatchObject({
    message: `${ROLES.analyst} may not connect to the database ${name}`,
    hint: expect.stringContaining('have the owner of the database, or a superuser, run this'),
  });
});

describe('What grants prints, run by an owner of the database,', () => {
  beforeAll(() => ownedBy(ROLES.owner));
  // Before the roles are removed: the owner of a database cannot be.
  afterAll(() => ownedBy('current_user'));

  test('for workers is enough for sync, status, doctor, commissions and work, and for no change of tables', async () => {
    await grant('worker');
    const [id = '', later = ''] = await unpaidCommissions(2);
    for (const args of [
      ['sync'],
      ['sync', '--mode', 'delta'],
      ['status'],
      ['commissions', 'track', id],
      ['commissions', 'pay', id, '--at', AT, '--wait'],
      ['commissions', 'status', id],
    ]) {
      expect(await runCli(args, environment('worker')), args.join(' ')).toMatchObject({ code: 0 });
    }
    const worker = await startCommandWorker(environment('worker'));
    expect(await runCli(['commissions', 'pay', later, '--at', AT], environment('worker'))).toMatchObject({
      code: 0,
    });
    const state = `select state from mirror.commission_updates where commission_id = '${later}'`;
    await expect.poll(() => queryAs('owner', state)).toEqual([{ state: 'applied' }]);
    expect(await worker.readyz()).toEqual({ database: 'ok', rights: 'ok', migrations: 'ok', queue: 'ok' });
    expect(worker.lines.join('\n')).not.toContain('permission denied');
    await worker.stop();

    for (const text of [
      'alter table mirror.affiliates add column x int',
      'drop table mirror.sync_runs',
      'create table mirror.own (a int)',
      'delete from mirror.schema_migrations',
      'delete from mirror_queue.migration',
    ]) {
      await refused('worker', text);
    }
    // Its rights are those on tables of later migrations, too.
    await queryAs(
      'owner',
      'create table mirror.later (a int generated always as identity); create table mirror_queue.later (a serial)',
    );
    await queryAs(
      'worker',
      'insert into mirror.later default values; insert into mirror_queue.later default values',
    );
    expect(await runCli(['doctor'], environment('worker'))).toMatchObject({ code: 0 });
    await queryAs('owner', 'drop table mirror.later; drop table mirror_queue.later');
  });

  test('for payroll is enough to ask by SQL and by the commands, and to read, and for no more', async () => {
    await grant('payroll');
    const [bySql = '', byCommand = ''] = await unpaidCommissions(2);
    await queryAs(
      'payroll',
      `insert into mirror.commission_updates (commission_id, action, paid_at) values ('${bySql}', 'pay', '2026-10-01')`,
    );
    const commissions = (...args: string[]) => runCli(['commissions', ...args], environment('payroll'));
    expect(await commissions('pay', byCommand, '--at', AT)).toMatchObject({ code: 0 });
    // Asked again, it is answered from what the mirror has of the commission.
    expect(await commissions('pay', byCommand, '--at', AT)).toMatchObject({ code: 0 });
    expect(await commissions('status', byCommand)).toMatchObject({ code: 0 });
    const asked = `select state, database_user from mirror.commission_updates where commission_id in ('${bySql}', '${byCommand}')`;
    const own = { state: 'pending', database_user: ROLES.payroll };
    expect(await queryAs('payroll', asked)).toEqual([own, own]);
    // With which the commands look ahead.
    const same =
      'select mirror.is_same_request(own, own) as is_same from mirror.commission_updates own limit 1';
    expect(await queryAs('payroll', same)).toEqual([{ is_same: true }]);
    expect(await queryAs('payroll', 'select * from mirror.commission_ledger limit 1')).toHaveLength(1);
    for (const text of [
      'select * from mirror.affiliates',
      'select * from mirror.commissions',
      `update mirror.commission_updates set state = 'cancelled'`,
      'delete from mirror.commission_updates',
      `insert into mirror.commission_updates (commission_id, action, paid_at, state) values ('${bySql}', 'pay', now(), 'applied')`,
      'select * from mirror_queue.job',
    ]) {
      await refused('payroll', text);
    }
  });

  test('for analysts is enough to export what each may read, and not the tables of the other', async () => {
    await grant('analyst');
    await grant('analyst_pii');
    const args = ['--format', 'csv', '-o', '-'];
    for (const [role, relation] of [
      ['analyst', 'freshness'],
      ['analyst_pii', 'mirror.referrals'],
    ] as const) {
      expect(await runCli(['export', relation, ...args], environment(role))).toMatchObject({ code: 0 });
      await refused(role, 'select * from mirror_queue.job');
    }
    await queryAs('analyst_pii', 'select count(*) from mirror.referrals_at(now())');
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

  test('A right that is taken away: doctor and /readyz notice', async () => {
    const worker = await startCommandWorker({ ...environment('worker'), SYNC_FULL_CRON: '' });
    await queryAs(
      'owner',
      `revoke insert on mirror.sync_runs from ${ROLES.worker}; revoke select on mirror_reports.freshness from ${ROLES.worker}`,
    );
    expect(await worker.readyz()).toMatchObject({ database: 'ok', rights: 'failed', migrations: 'ok' });
    expect(worker.lines.join('\n')).toContain('lacks insert on mirror.sync_runs');
    const { code, stdout } = await runCli(['doctor'], environment('worker'));
    expect(stdout).toMatch(/^✗ rights: the role worker_\w+ lacks .*insert on mirror\.sync_runs/m);
    expect(stdout).toMatch(/^✗ rights: .*select on mirror_reports\.freshness/m);
    expect(code).toBe(1);
    const sync = await runCli(['sync'], environment('worker'));
    expect(sync.stderr).toMatch(
      /^affiliate-mirror: .*affiliate-mirror grants worker.*permission denied for table sync_runs\n/m,
    );
    expect(sync.code).toBe(1);
  });
});
