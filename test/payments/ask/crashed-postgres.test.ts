// Requests for payments where the defaults of the database let a commit be answered before it is on the disk
// (synchronous_commit = off): a crash of Postgres then undoes what was accepted.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { describeGrants } from '../../../src/db/access/grants.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/own-postgres.ts';
import { runCli } from '../../support/run-cli.ts';

const AT = '2026-10-01T12:00:00Z';
let server: OwnPostgres;

beforeAll(async () => {
  server = await startOwnPostgres();
  await server.query(`create role payroll login password 'p'`);
  await server.query(describeGrants('payroll', { role: 'payroll', schema: 'mirror', queueSchema: null }));
  await server.query('alter system set synchronous_commit = off');
  // The longest there is: after that, what is committed is written anyway.
  await server.query(`alter system set wal_writer_delay = '10s'`);
  await server.stop();
  await server.start();
});

async function askByCommand(id: string): Promise<void> {
  const command = ['commissions', 'pay', id, '--at', AT];
  expect(await runCli(command, { DATABASE_URL: server.url })).toMatchObject({ code: 0 });
}

async function askBySql(id: string): Promise<void> {
  const payroll = new pg.Client(server.url.replace(/\/\/[^@]+@/, '//payroll:p@'));
  // The crash ends it.
  payroll.on('error', () => {});
  await payroll.connect();
  expect((await payroll.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }]);
  await payroll.query(
    `insert into mirror.commission_updates (commission_id, action, paid_at) values ($1, 'pay', $2)`,
    [id, AT],
  );
}

test.each([
  ['a command', askByCommand],
  ['SQL of the role payroll', askBySql],
])('Where commits do not wait for the disk, those of accepted requests do: by %s', async (_by, ask) => {
  const id = randomUUID();
  await ask(id);
  await server.crash();
  await server.start();
  expect(
    await server.query(`select from mirror.commission_updates where commission_id = '${id}'`),
  ).toHaveLength(1);
});
