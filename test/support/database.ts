// A database of its own for a test file, cloned from the run's template in a fraction of a second.
// Import it from a test file only: what it made is dropped, or kept for a look, when that file ends.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject, type RunnerTestSuite, TestRunner } from 'vitest';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';

export interface TestDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Closes the pool. The database goes when the test file ends, unless the file failed. Idempotent: yes. */
  drop(): Promise<void>;
}

interface Created {
  readonly name: string;
  readonly database: TestDatabase;
}

const created: Created[] = [];

const KEPT = process.env['TEST_DATABASE_URL']
  ? 'kept on the server of TEST_DATABASE_URL'
  : 'kept until the run ends; set TEST_DATABASE_URL to look at them afterwards';

/** Returns a new database with an empty, migrated schema `mirror`, and affiliate-mirror's own kind of pool on it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url: serverUrl, template } = inject('testPostgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOnServer([`create database ${name} template ${template}`]);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = makePool(
    // A test may break its connections: that is no error here.
    { log: makeLogger('fatal') },
    { url: url.href, schema: 'mirror', max: 5, applicationName: 'test' },
  );
  let closed: Promise<void> | undefined;
  const drop = () => {
    closed ??= pool.end();
    return closed;
  };
  const database = { url: url.href, pool, drop };
  created.push({ name, database });
  return database;
}

const file = TestRunner.getCurrentSuite().file;

// Registered before any hook of the test file, and hooks that end a file run last to first: so this one is the last.
afterAll(async () => {
  await Promise.all(created.map(({ database }) => database.drop()));
  const names = created.map(({ name }) => name);
  if (hasFailed(file)) process.stderr.write(`databases of this failed file: ${names.join(', ')} (${KEPT})\n`);
  else await runOnServer(names.map((name) => `drop database ${name} with (force)`));
});

async function runOnServer(statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('testPostgres').url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function hasFailed(suite: Readonly<RunnerTestSuite>): boolean {
  if (suite.result?.state === 'fail') return true;
  return suite.tasks.some((task) =>
    task.type === 'suite' ? hasFailed(task) : task.result?.state === 'fail',
  );
}
