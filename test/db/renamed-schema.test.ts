// A mirror whose schema got another name: nothing works on the former name, and `migrate` sets right what would.

import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { checkSchema } from '../../src/db/check-schema.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { listPending, runMigrations } from '../../src/db/migrate.ts';
import { PINNED_FUNCTIONS } from '../../src/db/pinned-functions.ts';
import { makePool } from '../../src/db/pool.ts';
import { SchemaMismatch } from '../../src/errors.ts';
import { makeLogger } from '../../src/log.ts';
import { buildReferral } from '../mirror/build-records.ts';
import { at, type LoadedPages, load } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

function openMirror(schema: string) {
  const pool = makePool(
    { log: makeLogger('silent') },
    { url: database.url, schema, max: 2, applicationName: 'test' },
  );
  onTestFinished(() => pool.end());
  return { pool, db: makeDatabase(pool) };
}

async function rename(schema: string): Promise<void> {
  await database.pool.query(`
    alter schema mirror rename to ${schema};
    alter schema mirror_reports rename to ${schema.replace(/"$/, '')}_reports${schema.endsWith('"') ? '"' : ''}`);
}

const pageOf = (observedAt: string, record: unknown): LoadedPages => ({
  resource: 'referrals',
  pages: [{ observedAt, records: [record] }],
});

async function changesIn(schema: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ change: string }>(
    `select change from ${schema}.record_history order by id`,
  );
  return rows.map(({ change }) => change);
}

test('a renamed mirror is refused until it is migrated, and then writes nothing into the one that has its name', async () => {
  await rename('former');
  await runMigrations(openMirror('mirror').pool, { schema: 'mirror' });
  const { pool, db } = openMirror('former');

  await expect(checkSchema(pool, { schema: 'former' })).rejects.toThrow(SchemaMismatch);
  await expect(checkSchema(pool, { schema: 'former' })).rejects.toThrow(
    'the functions of the schema former work on tables of another one (announce_commission_updates on mirror), as after a rename: run affiliate-mirror migrate',
  );
  const due = { applied: [], repinned: PINNED_FUNCTIONS.toSorted(), advanced: [], hasRemadeReports: false };
  expect(await listPending(pool, { schema: 'former' })).toEqual(due);
  expect(await runMigrations(pool, { schema: 'former' })).toEqual(due);
  await checkSchema(pool, { schema: 'former' });
  expect(await runMigrations(pool, { schema: 'former' })).toEqual({
    applied: [],
    repinned: [],
    advanced: [],
    hasRemadeReports: false,
  });

  const referral = buildReferral();
  expect(await load(db, pageOf(at(1), referral))).toMatchObject({ inserted: 1 });
  expect(await load(db, pageOf(at(2), { ...referral, customer: null }))).toMatchObject({ updated: 1 });
  expect(await changesIn('former')).toContain('updated');
  expect(await changesIn('mirror')).toEqual([]);
});

test('a renamed mirror with no other under its former name works on once it is migrated', async () => {
  await rename('"select"');
  const { pool, db } = openMirror('select');
  await expect(load(db, pageOf(at(1), buildReferral()))).rejects.toThrow();
  await runMigrations(pool, { schema: 'select' });
  await checkSchema(pool, { schema: 'select' });
  await load(db, pageOf(at(1), buildReferral()));
});

test("a function of somebody else in the mirror's schema keeps its search path", async () => {
  await database.pool.query(
    `create function mirror.theirs() returns int language sql set search_path = public as 'select 1'`,
  );
  const { pool } = openMirror('mirror');
  await checkSchema(pool, { schema: 'mirror' });
  expect(await runMigrations(pool, { schema: 'mirror' })).toEqual({
    applied: [],
    repinned: [],
    advanced: [],
    hasRemadeReports: false,
  });
});

test('what a guarded function finds last stays last', async () => {
  await rename('former');
  await runMigrations(openMirror('former').pool, { schema: 'former' });
  const { rows } = await database.pool.query(
    `select distinct proconfig::text as config from pg_proc
     where pronamespace = 'former'::regnamespace and prosecdef`,
  );
  expect(rows).toEqual([{ config: '{"search_path=former, pg_temp"}' }]);
});
