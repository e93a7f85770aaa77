// Weaker roles in a database where PUBLIC has nothing: what `grants` prints is enough for each of them.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeGrants } from '../../src/db/grants.ts';
import { ANALYST_RELATIONS } from '../../src/db/relations.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import {
  environment,
  grant,
  queryAs,
  queryAsDba,
  ROLES,
  unpaidCommissions,
  useRoles,
} from '../support/roles.ts';
import { runCli } from '../support/run-cli.ts';

const AT = '2026-10-01T12:00:00Z';

useRoles();

beforeAll(async () => {
  const name = String((await queryAsDba('select current_database() as name'))[0]?.['name']);
  await queryAsDba(`
    revoke all on database ${name} from public;
    revoke all on schema public from public;
    revoke usage on language plpgsql, sql from public;
    grant usage on language plpgsql, sql to ${ROLES.owner};
    alter default privileges for role ${ROLES.owner} revoke execute on functions from public;
    alter default privileges for role ${ROLES.owner} revoke usage on types from public`);
  await ownedBy(ROLES.owner);
  expect(await runCli(['migrate'], environment('owner'))).toMatchObject({ code: 0, stderr: '' });
});

// Before the roles are removed: the owner of a database cannot be.
afterAll(() => ownedBy('current_user'));

async function ownedBy(owner: string): Promise<string> {
  const [database] = await queryAsDba('select current_database() as name');
  const name = String(database?.['name']);
  // The former owner loses what it could do as that.
  await queryAsDba(
    `alter database ${name} owner to ${owner}; grant connect on database ${name} to ${ROLES.owner}`,
  );
  return name;
}

test('who may not grant the right to connect is told who can, and grants nothing', async () => {
  const name = await ownedBy('current_user');
  const text = describeGrants('analyst', { role: ROLES.analyst, schema: 'mirror', queueSchema: null });
  await expect(queryAs('owner', text)).rejects.toMatchObject({
    message: `${ROLES.analyst} may not connect to the database ${name}`,
    hint: expect.stringContaining('have the owner of the database, or a superuser, run this'),
  });
  await ownedBy(ROLES.owner);
});

test('grants worker is enough for sync, status, doctor, commissions and work', async () => {
  await grant('worker');
  const [id = '', later = ''] = await unpaidCommissions(2);
  for (const args of [
    ['sync'],
    ['sync', '--mode', 'delta'],
    ['status'],
    ['doctor'],
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
});

test('grants payroll is enough to ask by SQL and by the commands, and to read', async () => {
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
  // With which the commands look ahead.
  const same =
    'select mirror.is_same_request(own, own) as is_same from mirror.commission_updates own limit 1';
  expect(await queryAs('payroll', same)).toEqual([{ is_same: true }]);
  expect(await commissions('status', byCommand)).toMatchObject({ code: 0 });
  expect(await queryAs('payroll', 'select * from mirror.commission_ledger limit 1')).toHaveLength(1);
});

test('grants analyst and analyst_pii are enough for all that each reads', async () => {
  const views = (
    await queryAs('owner', `select viewname from pg_views where schemaname = 'mirror_reports'`)
  ).map(({ viewname }) => pg.escapeIdentifier(String(viewname)));
  for (const kind of ['analyst', 'analyst_pii'] as const) {
    await grant(kind);
    for (const view of views) await queryAs(kind, `select * from mirror_reports.${view} limit 1`);
    const args = ['export', 'freshness', '--format', 'csv', '-o', '-'];
    expect(await runCli(args, environment(kind))).toMatchObject({ code: 0 });
  }
  for (const name of ANALYST_RELATIONS) await queryAs('analyst_pii', `select * from mirror.${name} limit 1`);
  await queryAs('analyst_pii', `select count(*) from mirror.referrals_at(now())`);
});
