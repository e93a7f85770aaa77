// A mirror whose schemas a DBA made, a role that owns them, and weaker ones. Import it from a test file only.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { runCli } from './run-cli.ts';

const mark = randomBytes(4).toString('hex');
export const ROLES = {
  owner: `owner_${mark}`,
  worker: `worker_${mark}`,
  analyst: `Analyst "${mark}"`,
  analyst_pii: `analyst_pii_${mark}`,
  payroll: `payroll_${mark}`,
  nobody: `nobody_${mark}`,
};
export type Role = keyof typeof ROLES;

let program: TestDatabase;
let sandbox: TestSandbox;
let database: TestDatabase;

beforeAll(async () => {
  program = await createTestDatabase();
  sandbox = await runSandbox(program.pool, { affiliates: 20, referrals: 100 });
  database = await createTestDatabase();
  for (const role of Object.values(ROLES)) {
    await database.pool.query(`create role ${pg.escapeIdentifier(role)} login password 'p'`);
  }
  await database.pool.query(`
    drop schema mirror, mirror_reports cascade;
    create schema mirror authorization ${ROLES.owner};
    create schema mirror_reports authorization ${ROLES.owner};
    create schema mirror_queue authorization ${ROLES.owner}`);
});

afterAll(async () => {
  await sandbox.close();
  for (const role of Object.values(ROLES)) {
    const name = pg.escapeIdentifier(role);
    await database.pool.query(`drop owned by ${name} cascade; drop role ${name}`);
  }
});

function urlOf(role: Role): string {
  const url = new URL(database.url);
  url.username = encodeURIComponent(ROLES[role]);
  url.password = 'p';
  return url.href;
}

export const environment = (role: Role) => ({
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
  DATABASE_URL: urlOf(role),
});

/** Returns the rows of one statement. */
export async function queryAs(role: Role, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: urlOf(role) });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

export const refused = (role: Role, text: string) =>
  expect(queryAs(role, text), text).rejects.toMatchObject({ code: '42501' });

/** Has the owner of the tables run what the command prints. */
export async function grant(
  kind: 'worker' | 'analyst' | 'analyst_pii' | 'payroll',
  more: Record<string, string> = {},
): Promise<void> {
  const { code, stdout } = await runCli(['grants', kind, '--role', ROLES[kind]], more);
  expect(code).toBe(0);
  // Twice, by the owner of the tables: nothing in it needs more, or fails where it ran before.
  await queryAs('owner', stdout);
  await queryAs('owner', stdout);
}

export async function unpaidCommissions(count: number): Promise<string[]> {
  const { rows } = await program.pool.query<{ id: string }>(
    'select id from sandbox.commissions where paid_at is null and voided_at is null order by random() limit $1',
    [count],
  );
  return rows.map(({ id }) => id);
}

/** Returns the rows of one statement of the tests' superuser. */
export async function queryAsDba(text: string): Promise<readonly Record<string, unknown>[]> {
  return (await database.pool.query(text)).rows;
}
