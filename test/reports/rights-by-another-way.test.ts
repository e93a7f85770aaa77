// What `grants` prints, in databases where PUBLIC, a group or default privileges give rights to everyone: it grants
// nothing, and names where the right comes from; once that is taken back there, it grants what it says.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, expect, test } from 'vitest';
import { describeGrants } from '../../src/db/access/grants.ts';
import { GRANTEES, type Grantee } from '../../src/db/relations.ts';
import { createTestDatabase } from '../support/database.ts';
import { PERSONAL, storeRows } from './store-rows.ts';

const mark = randomBytes(4).toString('hex');
const GROUP = `group_${mark}`;
const OTHER = `other_${mark}`;
/** As one that has to be quoted. */
const ROLE = `Ana's "${mark}"`;
const role = pg.escapeIdentifier(ROLE);

const database = await createTestDatabase();
await storeRows(database.pool);
await database.pool.query(
  `create role ${role} login password 'p'; create role ${GROUP}; create role ${OTHER}`,
);

afterAll(async () => {
  for (const name of [role, GROUP, OTHER]) {
    await database.pool.query(`drop owned by ${name} cascade; drop role ${name}`);
  }
});

/** As psql and pg send it: in one text. */
async function grant(kind: Grantee): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(describeGrants(kind, { role: ROLE, schema: 'mirror', queueSchema: 'mirror_queue' }));
  } finally {
    await client.end();
  }
}

async function readReports(): Promise<string> {
  const url = new URL(database.url);
  url.username = encodeURIComponent(ROLE);
  url.password = 'p';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const { rows } = await client.query(
      'select (select jsonb_agg(a) from mirror_reports.affiliates a) as a, (select jsonb_agg(r) from mirror_reports.referrals r) as r',
    );
    return JSON.stringify(rows);
  } finally {
    await client.end();
  }
}

const mayUseReports = async () =>
  (await database.pool.query(`select has_schema_privilege($1, 'mirror_reports', 'usage') as may`, [ROLE]))
    .rows[0].may;

afterEach(async () => {
  await database.pool.query(`drop owned by ${role} cascade`);
});

const WAYS: readonly (readonly [way: string, give: string, takeBack: string, message: string])[] = [
  [
    'PUBLIC',
    'grant select on mirror.affiliates, mirror.referrals to public',
    'revoke select on mirror.affiliates, mirror.referrals from public',
    `${ROLE} has more rights than these, by PUBLIC (select on mirror.affiliates and 1 more)`,
  ],
  [
    'PUBLIC, on a column',
    'grant select (email) on mirror.affiliates to public',
    'revoke select (email) on mirror.affiliates from public',
    'by PUBLIC (select on mirror.affiliates (email))',
  ],
  [
    'a group',
    `grant select on mirror.affiliates to ${GROUP}; grant ${GROUP} to ${role}`,
    `revoke ${GROUP} from ${role}; revoke select on mirror.affiliates from ${GROUP}`,
    `by the role ${GROUP} (select on mirror.affiliates)`,
  ],
  [
    'a group whose rights it has to take with set role',
    `alter role ${role} noinherit; grant ${GROUP} to ${role}; grant insert on mirror.commission_updates to ${GROUP}`,
    `alter role ${role} inherit; revoke ${GROUP} from ${role}; revoke insert on mirror.commission_updates from ${GROUP}`,
    `by the role ${GROUP} (insert on mirror.commission_updates)`,
  ],
  [
    'a role of Postgres that reads everything',
    `grant pg_read_all_data to ${role}`,
    `revoke pg_read_all_data from ${role}`,
    'by the role pg_read_all_data (select on all tables)',
  ],
  [
    'default privileges for PUBLIC',
    'alter default privileges grant select on tables to public',
    'alter default privileges revoke select on tables from public',
    'for PUBLIC (select on later tables)',
  ],
  [
    'default privileges for the role, in all schemas',
    `alter default privileges grant select on tables to ${role}`,
    `alter default privileges revoke select on tables from ${role}`,
    'for itself, granted by',
  ],
  [
    'a grant of another role than the owner',
    `grant select on mirror.sales to ${OTHER} with grant option; grant usage on schema mirror to ${OTHER};
     set role ${OTHER}; grant select on mirror.sales to ${role}; reset role`,
    `revoke all on mirror.sales from ${OTHER} cascade; revoke usage on schema mirror from ${OTHER}`,
    `by itself, granted by ${OTHER} (select on mirror.sales)`,
  ],
  [
    'being a superuser',
    `alter role ${role} superuser`,
    `alter role ${role} nosuperuser`,
    'by it is a superuser',
  ],
];

test.each(WAYS)(
  'an analyst who could read by %s is granted nothing until that is taken back',
  async (_, give, takeBack, message) => {
    await database.pool.query(give);
    await expect(grant('analyst')).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining('Nothing was granted'),
    });
    await database.pool.query(takeBack);
    expect(await mayUseReports()).toBe(false);
    await grant('analyst');
    const read = await readReports();
    expect(read).toContain('"id"');
    for (const word of PERSONAL) expect(read).not.toContain(word);
  },
);

test.each(GRANTEES)(
  '%s is granted nothing where PUBLIC has everything, and then what it needs',
  async (kind) => {
    const client = await database.pool.connect();
    try {
      await client.query('create schema mirror_queue; create table mirror_queue.migration (a int)');
      await client.query('grant all on all tables in schema mirror, mirror_queue to public');
      await expect(grant(kind)).rejects.toThrow(/ has more rights than these, by PUBLIC \(/);
      await client.query('revoke all on all tables in schema mirror, mirror_queue from public');
      await grant(kind);
    } finally {
      await client.query('drop schema mirror_queue cascade');
      client.release();
    }
  },
);

test('a role that was a worker keeps nothing of it as payroll', async () => {
  for (const kind of ['worker', 'payroll'] as const) {
    await database.pool.query(describeGrants(kind, { role: ROLE, schema: 'mirror', queueSchema: null }));
  }
  const { rows } = await database.pool.query(
    `select has_table_privilege($1, 'mirror.affiliates', 'select') as reads,
       has_table_privilege($1, 'mirror.commission_updates', 'insert') as writes_all,
       has_column_privilege($1, 'mirror.commission_updates', 'action', 'insert') as asks`,
    [ROLE],
  );
  expect(rows).toEqual([{ reads: false, writes_all: false, asks: true }]);
});
