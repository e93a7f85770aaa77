// A database of its own for a test file, cloned from the run's template in a fraction of a second.
// What it made is dropped when that file ends, or kept for a look where the file failed.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import { afterFile, type FileOutcome } from './after-file.ts';
import { findTouchedNeighbour } from './neighbour.ts';

export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** On the pool. */
  readonly db: Database;
}

const created: { readonly name: string; readonly pool: Pool }[] = [];

const KEPT = process.env['TEST_DATABASE_URL']
  ? 'kept on the server of TEST_DATABASE_URL'
  : 'kept until the run ends; set TEST_DATABASE_URL to look at them afterwards';

/** Returns a new database with an empty, migrated schema `mirror`, and affiliate-mirror's own kind of pool on it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { template } = inject('testPostgres');
  // Its files are copied: that takes half of the time in which they are written through the log, page by page.
  return createAs(`template ${template} strategy file_copy`);
}

/** Returns the same in a database whose texts are of that language (ICU), such as tr. */
export async function createTestDatabaseIn(language: string): Promise<TestDatabase> {
  const database = await createAs(
    `template template0 encoding 'UTF8' locale 'C' locale_provider icu icu_locale '${language}'`,
  );
  await runMigrations(database.pool, { schema: 'mirror' });
  return database;
}

async function createAs(options: string): Promise<TestDatabase> {
  const { url: serverUrl } = inject('testPostgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOnServer([`create database ${name} ${options}`]);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = makePool(
    // A test may break its connections: that is no error here.
    { log: makeLogger('fatal') },
    { url: url.href, schema: 'mirror', max: 5, applicationName: 'test' },
  );
  if (created.length === 0) afterFile(dropCreated);
  created.push({ name, pool });
  return { url: url.href, pool, db: makeDatabase(pool) };
}

async function dropCreated({ hasFailed }: FileOutcome): Promise<void> {
  const ended = created.splice(0);
  const touched = await Promise.all(ended.map(({ pool }) => findTouchedNeighbour(pool)));
  await Promise.all(ended.map(({ pool }) => pool.end()));
  const names = ended.map(({ name }) => name);
  if (hasFailed) process.stderr.write(`databases of this failed file: ${names.join(', ')} (${KEPT})\n`);
  else await runOnServer(names.map((name) => `drop database ${name} with (force)`));
  for (const found of touched) if (found !== null) throw new Error(found);
}

async function runOnServer(statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('testPostgres').url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
