// A mirror that was made and filled by the first migration alone, and then brought up to date.

import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS_DIRECTORY } from '../../src/db/migration-files.ts';
import { makePool } from '../../src/db/pool.ts';
import { reportsSchema } from '../../src/db/sibling-schema.ts';
import { makeLogger } from '../../src/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { storeEvents, storeRows } from './store-rows.ts';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** Words of SQL, and of the greatest length: such names must work as well. */
const [OLD, FRESH] = ['select', `f${'r'.repeat(62)}`] as const;

async function openMirrors(): Promise<{ old: Pool; fresh: Pool }> {
  const { url } = await createTestDatabase();
  const [old, fresh] = [OLD, FRESH].map((schema) => {
    const pool = makePool({ log: makeLogger('silent') }, { url, schema, max: 1, applicationName: 'test' });
    closers.push(() => pool.end());
    return pool;
  }) as [Pool, Pool];
  return { old, fresh };
}

async function readViews(pool: Pool, schema: string): Promise<Record<string, unknown[]>> {
  const reports = reportsSchema(schema);
  const { rows: views } = await pool.query<{ name: string }>(
    'select relname as name from pg_class where relnamespace = $1::regnamespace order by relname',
    [reports],
  );
  const read: Record<string, unknown[]> = {};
  for (const { name } of views) {
    // Moments and ages of now differ from one mirror to the other by nature; the rows of the fresh one are stamped.
    const { rows } = await pool.query<{ row: object }>(
      `select to_jsonb(shown) - array['_changed_at', 'requested_at', 'finished_at', 'everything_age_seconds', 'changes_age_seconds', 'last_run_saved_age_seconds', 'last_run_saved_at', 'deletions_held_back_since', 'oldest_requested_at', 'last_finished_at', 'last_saved_at'] as row
       from ${reports}.${name} shown order by 1`,
    );
    read[name] = rows.map(({ row }) => row);
  }
  return read;
}

test('the views of a mirror that was filled at the first schema say what those of a fresh one say', async () => {
  const { old, fresh } = await openMirrors();
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  closers.push(() => rm(directory, { recursive: true }));
  const [first = ''] = (await readdir(MIGRATIONS_DIRECTORY)).toSorted();
  await copyFile(join(MIGRATIONS_DIRECTORY, first), join(directory, first));
  expect(await runMigrations(old, { schema: OLD, directory })).toMatchObject({ applied: [first] });
  await storeRows(old);
  expect((await runMigrations(old, { schema: OLD })).applied).not.toContain(first);

  await runMigrations(fresh, { schema: FRESH });
  await storeRows(fresh);

  const [before, after] = [await readViews(old, OLD), await readViews(fresh, FRESH)];
  expect(before).toEqual(after);
  expect(Object.keys(before).length).toBe(20);
  for (const view of ['affiliates', 'referrals', 'commissions', 'affiliate_performance', 'payouts_due']) {
    expect(before[view]?.length, view).toBeGreaterThan(0);
  }
  for (const pool of [old, fresh]) await storeEvents(pool);
  expect(await readViews(old, OLD)).toEqual(await readViews(fresh, FRESH));
});
