// The views over the reports of several programs: what they show, to whom, and what stands in their way.

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { describeUnion } from '../../../src/db/access/describe-union.ts';
import { describeGrants } from '../../../src/db/access/grants.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { runMigrations } from '../../../src/db/migrate/migrate.ts';
import { readReportNames } from '../../../src/db/migrate/migration-files.ts';
import { FREE_TEXT, PERSONAL, storeEvents, storeRows } from '../../reports/store-rows.ts';
import { createTestDatabase } from '../../support/database.ts';
import { makeDirectory } from '../../support/directory.ts';
import { runCli } from '../../support/run-cli.ts';

const database = await createTestDatabase();
const reports = await readReportNames();
const mark = randomBytes(4).toString('hex');
const ANALYST = `analyst_${mark}`;
const ANALYST_PII = `analyst_pii_${mark}`;
const ACME = { name: 'acme', mirrorSchema: 'mirror_acme' };
const BOLT = { name: "bolt's", mirrorSchema: 'mirror_bolt' };

/** Runs what is printed, as one script; a failed one leaves no transaction behind. */
async function union(...programs: readonly (typeof ACME)[]): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query(describeUnion({ schema: 'mirror_all', reports, programs }));
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** Returns the rows that the role reads. */
async function readAs(role: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = await database.pool.connect();
  try {
    await client.query(`set role ${role}`);
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.query('reset role');
    client.release();
  }
}

const read = async (text: string) => (await database.pool.query<Record<string, unknown>>(text)).rows;

beforeAll(async () => {
  await read(`create role ${ANALYST}; create role ${ANALYST_PII}`);
  for (const { mirrorSchema: schema } of [ACME, BOLT]) {
    const pool = makePool(
      { log: makeLogger('silent') },
      { url: database.url, schema, max: 1, applicationName: 'union-test' },
    );
    await runMigrations(pool, { schema });
    await storeRows(pool);
    await storeEvents(pool);
    await pool.end();
    await read(describeGrants('analyst', { role: ANALYST, schema, queueSchema: null }));
    await read(describeGrants('analyst_pii', { role: ANALYST_PII, schema, queueSchema: null }));
  }
});

afterAll(() =>
  read(`drop owned by ${ANALYST}, ${ANALYST_PII} cascade; drop role ${ANALYST}; drop role ${ANALYST_PII}`),
);

test('each report has a view, with the columns and comments of the report after the program', async () => {
  await union(ACME, BOLT);
  expect(reports.length).toBeGreaterThan(20);
  const columnsOf = (schema: string) =>
    read(`
      select relname, attname, format_type(atttypid, atttypmod) as type, col_description(attrelid, attnum) as comment
      from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = '${schema}'::regnamespace and attnum > 0 order by relname, attnum`);
  const all = await columnsOf('mirror_all');
  expect(all.filter(({ attname }) => attname !== 'program')).toEqual(await columnsOf('mirror_acme_reports'));
  const first = await read(`
    select distinct attname, attnum, col_description(attrelid, 1) as comment from pg_attribute
    where attrelid in (select oid from pg_class where relnamespace = 'mirror_all'::regnamespace) and attnum = 1`);
  expect(first).toEqual([
    { attname: 'program', attnum: 1, comment: 'The name of the program in PROGRAMS_FILE.' },
  ]);
});

test('each view has the rows of every report, by the name of its program', async () => {
  await union(ACME, BOLT);
  for (const report of reports) {
    const rows = await read(`select to_jsonb(r) as row from mirror_all.${report} r order by row`);
    const own = await read(`
      select to_jsonb(a) || '{"program": "acme"}' as row from mirror_acme_reports.${report} a union all
      select to_jsonb(b) || '{"program": "bolt''s"}' from mirror_bolt_reports.${report} b order by row`);
    expect(rows.length, report).toBe(own.length);
    // These say how old something is.
    if (report !== 'freshness' && report !== 'request_usage') expect(rows, report).toEqual(own);
  }
});

describe('Who reads them', () => {
  test('an analyst sees no personal data, and an analyst_pii sees them', async () => {
    await union(ACME, BOLT);
    const seen = { [ANALYST]: '', [ANALYST_PII]: '' };
    for (const role of [ANALYST, ANALYST_PII]) {
      for (const report of reports) {
        seen[role] += JSON.stringify(await readAs(role, `select * from mirror_all.${report}`));
      }
    }
    for (const text of [...PERSONAL, ...FREE_TEXT]) expect(seen[ANALYST]).not.toContain(text);
    expect(seen[ANALYST_PII]).toContain('ada@example.com');
  });

  test('a role that may not read the reports of one program reads no view', async () => {
    await union(ACME, BOLT);
    await read(`revoke all on all tables in schema mirror_bolt_reports from ${ANALYST}`);
    const refused = expect.objectContaining({ code: '42501' });
    await expect(readAs(ANALYST, 'select * from mirror_all.affiliates')).rejects.toEqual(refused);
    expect(
      await readAs(ANALYST, 'select program from mirror_acme_reports.affiliates').catch(() => []),
    ).toEqual([]);
    await union(ACME);
    expect(await readAs(ANALYST, 'select distinct program from mirror_all.affiliates')).toEqual([
      { program: 'acme' },
    ]);
    await read(`grant select on all tables in schema mirror_bolt_reports to ${ANALYST}`);
  });

  test('a table that a user keeps in the schema is not opened, and a view of hers stays', async () => {
    await union(ACME, BOLT);
    await read(`
      create table mirror_all.copied as select * from mirror_all.affiliates;
      create view mirror_all.own as select 1 as one;
      create view mirror_all.former as select 1 as one;
      comment on view mirror_all.former is 'Of all programs. Once a report.'`);
    await union(ACME, BOLT);
    await expect(readAs(ANALYST, 'select * from mirror_all.copied')).rejects.toMatchObject({ code: '42501' });
    expect(await read('select * from mirror_all.own')).toEqual([{ one: 1 }]);
    await expect(read('select * from mirror_all.former')).rejects.toMatchObject({ code: '42P01' });
    await read('drop table mirror_all.copied; drop view mirror_all.own');
  });
});

describe('The command', () => {
  test('prints it for the programs of PROGRAMS_FILE', async () => {
    const file = join(await makeDirectory(), 'programs.yaml');
    await writeFile(
      file,
      `programs:
         acme: { url: 'https://api.example.com', secret_env: ACME_SECRET }
         zinc: { url: 'https://api.example.com', secret_env: ZINC_SECRET, schema: mirror_bolt }`,
    );
    const secrets = { ACME_SECRET: 'one', ZINC_SECRET: 'two' };
    const { code, stdout, stderr } = await runCli(['union'], { PROGRAMS_FILE: file, ...secrets });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const programs = [ACME, { ...BOLT, name: 'zinc' }];
    expect(stdout).toBe(`${describeUnion({ schema: 'mirror_all', reports, programs })}\n`);
  });

  test('says that one program needs none', async () => {
    expect(await runCli(['union'], {})).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('PROGRAMS_FILE is not set'),
    });
  });
});

test('a view of a user on top of them survives a further program', async () => {
  await union(ACME);
  await read('create view public.everyone as select program, id from mirror_all.affiliates');
  await union(ACME, BOLT);
  expect(await read('select distinct program from public.everyone order by 1')).toEqual([
    { program: 'acme' },
    { program: "bolt's" },
  ]);
  await read('drop view public.everyone');
});

test('a filter on the program reads the tables of that program alone', async () => {
  await union(ACME, BOLT);
  const used = await read(
    `explain (format json, verbose) select * from mirror_all.referrals where program = 'acme'`,
  );
  expect(JSON.stringify(used)).toContain('mirror_acme');
  expect(JSON.stringify(used)).not.toContain('mirror_bolt');
});

describe('It changes nothing, and names the view,', () => {
  test('if a program is not migrated', async () => {
    await read('drop schema if exists mirror_all cascade');
    await expect(union(ACME, { name: 'cork', mirrorSchema: 'mirror_cork' })).rejects.toMatchObject({
      message: expect.stringContaining('mirror_cork_reports.affiliate_balances'),
      hint: expect.stringContaining('run affiliate-mirror migrate for all programs'),
    });
    expect(await read(`select to_regnamespace('mirror_all') as schema`)).toEqual([{ schema: null }]);
  });

  test('if one lacks a column that another has', async () => {
    const made = await read(`select pg_get_viewdef('mirror_bolt_reports.campaigns'::regclass) as definition`);
    await read(`
      create or replace view mirror_bolt_reports.campaigns as
      select shown.*, 1 as more from (${String(made[0]?.['definition']).replace(';', '')}) shown`);
    await expect(union(ACME, BOLT)).rejects.toMatchObject({
      message: expect.stringContaining('mirror_acme_reports.campaigns'),
    });
  });
});
