// Who reads what of the reports: tested by logging in as each role. Run it with TEST_DATABASE_URL on another server.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeGrants } from '../../src/db/access/grants.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { FREE_TEXT, PERSONAL, storeEvents, storeRows } from './store-rows.ts';

const mark = randomBytes(4).toString('hex');
/** `demoted` was granted the one kind and then the other; `payroll` is no analyst at all. */
const ROLES = {
  analyst: `Analyst "${mark}"`,
  analyst_pii: `analyst_pii_${mark}`,
  demoted: `demoted_${mark}`,
  payroll: `payroll_${mark}`,
};
type Role = keyof typeof ROLES;

let database: TestDatabase;
const clients = new Map<Role, pg.Client>();

beforeAll(async () => {
  database = await createTestDatabase();
  await storeRows(database.pool);
  await storeEvents(database.pool);
  for (const role of Object.values(ROLES)) {
    await database.pool.query(`create role ${pg.escapeIdentifier(role)} login password 'p'`);
  }
  const kinds = [
    ['analyst', 'analyst'],
    ['analyst_pii', 'analyst_pii'],
    ['analyst_pii', 'demoted'],
    ['analyst', 'demoted'],
    ['payroll', 'payroll'],
  ] as const;
  for (const [kind, role] of kinds) {
    const text = describeGrants(kind, { role: ROLES[role], schema: 'mirror', queueSchema: null });
    // Twice: nothing in it fails where it ran before.
    for (const _ of [1, 2]) await database.pool.query(text);
  }
  for (const role of Object.keys(ROLES) as Role[]) {
    const url = new URL(database.url);
    url.username = encodeURIComponent(ROLES[role]);
    url.password = 'p';
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    clients.set(role, client);
  }
});

afterAll(async () => {
  for (const client of clients.values()) await client.end();
  for (const role of Object.values(ROLES)) {
    const name = pg.escapeIdentifier(role);
    await database.pool.query(`drop owned by ${name} cascade; drop role ${name}`);
  }
});

async function queryAs(role: Role, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = clients.get(role);
  if (client === undefined) throw new TypeError('not connected');
  return (await client.query<Record<string, unknown>>(text)).rows;
}

const refused = (role: Role, text: string) =>
  expect(queryAs(role, text), `${role}: ${text}`).rejects.toMatchObject({ code: '42501' });

async function named(query: string): Promise<string[]> {
  return (await database.pool.query<{ name: string }>(query)).rows.map(({ name }) => name);
}

const viewNames = () =>
  named(`select relname as name from pg_class where relnamespace = 'mirror_reports'::regnamespace`);

/** Returns everything that the role reads in the reports, as text. */
async function readAll(role: Role): Promise<string> {
  const texts: string[] = [];
  for (const view of await viewNames()) {
    const rows = await queryAs(role, `select to_jsonb(shown)::text as row from mirror_reports.${view} shown`);
    expect(rows.length, view).toBeGreaterThan(0);
    texts.push(...rows.map(({ row }) => String(row)));
  }
  return texts.join('\n');
}

test.each(['analyst', 'demoted'] as const)(
  '%s reads all views, and no personal data in any',
  async (role) => {
    const read = await readAll(role);
    for (const word of [...PERSONAL, ...FREE_TEXT]) expect(read).not.toContain(word);
  },
);

test('analyst_pii reads all views, with personal data', async () => {
  const read = await readAll('analyst_pii');
  for (const word of [...PERSONAL, ...FREE_TEXT]) expect(read).toContain(word);
});

test('each column that is masked says so in its comment, and no other does', async () => {
  const said = await named(`
    select relname || '.' || attname as name
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
    where relnamespace = 'mirror_reports'::regnamespace and col_description(attrelid, attnum) like '%Personal data: null%'
    order by 1`);
  const hidden: string[] = [];
  for (const view of await viewNames()) {
    const open = await queryAs(
      'analyst_pii',
      `select to_jsonb(v) as row from mirror_reports.${view} v order by 1`,
    );
    const closed = await queryAs('analyst', `select to_jsonb(v) as row from mirror_reports.${view} v`);
    const columnsOf = (rows: typeof open) =>
      new Set(
        rows.flatMap(({ row }) =>
          Object.entries(row as object).flatMap(([name, value]) => (value === null ? [] : [name])),
        ),
      );
    const visible = columnsOf(closed);
    hidden.push(
      ...[...columnsOf(open)].filter((name) => !visible.has(name)).map((name) => `${view}.${name}`),
    );
  }
  expect(said).toEqual(hidden.toSorted());
});

test.each(['analyst', 'demoted'] as const)('%s is refused everything but the reports', async (role) => {
  const relations = await named(`
    select oid::regclass::text as name from pg_class
    where relnamespace = 'mirror'::regnamespace and relkind in ('r', 'v', 'S')`);
  for (const name of relations) await refused(role, `select * from ${qualified(name)}`);
  const functions = await named(`
    select format('mirror.%I(%s)', proname,
      (select string_agg(format('null::%I.%I', nspname, typname), ', ')
       from unnest(proargtypes) argument join pg_type on pg_type.oid = argument
       join pg_namespace on pg_namespace.oid = typnamespace)) as name
    from pg_proc where pronamespace = 'mirror'::regnamespace`);
  expect(functions.length).toBeGreaterThan(5);
  for (const call of functions) await refused(role, `select ${call}`);
  await refused(role, `select 'mirror.affiliates'::regclass`);
});

/** Without a schema where the connection of the test's own user has it in its path. */
const qualified = (name: string) => (name.includes('.') ? name : `mirror.${name}`);

test.each(['analyst', 'demoted', 'analyst_pii'] as const)('%s writes nothing', async (role) => {
  for (const view of await viewNames()) {
    for (const text of [
      `delete from mirror_reports.${view}`,
      `insert into mirror_reports.${view} default values`,
    ]) {
      // Refused, or nothing that can be written to.
      const code = expect.stringMatching(/^(42501|55000)$/);
      await expect(queryAs(role, text), text).rejects.toMatchObject({ code });
    }
  }
  for (const text of [
    `update mirror_reports.affiliates set state = 'x'`,
    'delete from mirror_reports.campaigns',
    'insert into mirror_reports.sales default values',
    'create table mirror_reports.mine ()',
    'create view mirror_reports.mine as select 1 as one',
    'create table mirror.mine ()',
    'drop view mirror_reports.affiliates',
    `comment on view mirror_reports.affiliates is 'x'`,
    'delete from mirror.affiliates',
    `insert into mirror.commission_updates (commission_id, action) values ('x', 'unpay')`,
  ]) {
    await refused(role, text);
  }
});

test('analyst_pii is refused the bookkeeping, and functions that write', async () => {
  for (const table of ['schema_migrations', 'seen_rows', 'covered_counters', 'worker_state']) {
    await refused('analyst_pii', `select * from mirror.${table}`);
  }
  await refused('analyst_pii', `select mirror.take_permit('reads', 1, 1, 1)`);
  await refused('analyst_pii', 'select mirror.return_permit(1, 1, 1, true, 1, 1, 1, 1)');
});

test('payroll reads no report', async () => {
  for (const view of await viewNames()) await refused('payroll', `select * from mirror_reports.${view}`);
});

test('a view of the next migration can be read by both; a table of it only by who reads the tables', async () => {
  await database.pool.query(`
    create view mirror_reports.next as select 1 as one;
    create table mirror.next (one int)`);
  for (const role of ['analyst', 'demoted', 'analyst_pii'] as const) {
    expect(await queryAs(role, 'select one from mirror_reports.next')).toEqual([{ one: 1 }]);
  }
  expect(await queryAs('analyst_pii', 'select one from mirror.next')).toEqual([]);
  for (const role of ['analyst', 'demoted'] as const) await refused(role, 'select one from mirror.next');
  await database.pool.query('drop view mirror_reports.next; drop table mirror.next');
});

test('a view that somebody makes who sees personal data shows none to who must not', async () => {
  await database.pool.query(`create schema shared authorization ${ROLES.analyst_pii}`);
  await queryAs(
    'analyst_pii',
    `create view shared.people as select email from mirror_reports.affiliates where email is not null`,
  );
  const analyst = pg.escapeIdentifier(ROLES.analyst);
  await queryAs(
    'analyst_pii',
    `grant usage on schema shared to ${analyst}; grant select on shared.people to ${analyst}`,
  );
  expect(await queryAs('analyst_pii', 'select * from shared.people')).toEqual([{ email: 'ada@example.com' }]);
  expect(await queryAs('analyst', 'select * from shared.people')).toEqual([]);
});
