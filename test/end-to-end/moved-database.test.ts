// A mirror that moved to another database by logical replication: its rows are there, and its identities begin at 1.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { runMigrations } from '../../src/db/migrate.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readDocument } from '../schemas/read-document.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { replicate } from '../support/replicate.ts';
import { runCli } from '../support/run-cli.ts';

const AT = '2026-10-01T12:00:00Z';
const BEHIND = [
  'affiliates._row_number',
  'commission_updates.id',
  'record_history.id',
  'referrals._row_number',
  'sync_runs.id',
];

let former: TestDatabase;
let sandbox: TestSandbox;
let moved: TestDatabase;

const environment = (database: TestDatabase) => ({
  DATABASE_URL: database.url,
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
});
const run = (...args: string[]) => runCli(args, environment(moved));

async function unpaid(): Promise<string[]> {
  const { rows } = await former.pool.query<{ id: string }>(
    'select id from sandbox.commissions where paid_at is null and voided_at is null order by id',
  );
  return rows.map(({ id }) => id);
}

beforeAll(async () => {
  former = await createTestDatabase();
  sandbox = await runSandbox(former.pool, { affiliates: 20, referrals: 120 });
  expect(await runCli(['sync'], environment(former))).toMatchObject({ code: 0 });
  const [first = ''] = await unpaid();
  const paid = await runCli(['commissions', 'pay', first, '--at', AT], environment(former));
  expect(paid).toMatchObject({ code: 0 });
  return () => sandbox.close();
});
beforeEach(async () => {
  moved = await createTestDatabase();
  await replicate(former.pool, moved.pool);
});

test('doctor names what is behind', async () => {
  const { code, stdout } = await run('doctor');
  expect(stdout).toMatch(
    /^✗ tables: new rows get numbers that other rows have \(affiliates\._row_number, .*\), .*: run affiliate-mirror migrate$/m,
  );
  for (const name of BEHIND) expect(stdout).toContain(name);
  expect(code).toBe(1);
});

test('migrate sets them, says so, and then nothing is left to do; a sync and a payment work', async () => {
  const preview = readDocument('migrate', (await run('migrate', '--dry-run', '--json')).stdout);
  expect(preview).toMatchObject({ migrations: [], advanced_identities: expect.arrayContaining(BEHIND) });
  expect((await run('migrate', '--dry-run')).stdout).toContain(
    'would set the next number of affiliates._row_number, ',
  );
  expect((await run('migrate')).stdout).toContain('set the next number of affiliates._row_number, ');
  const again = readDocument('migrate', (await run('migrate', '--json')).stdout);
  expect(again).toMatchObject({ migrations: [], advanced_identities: [] });
  expect(await run('doctor')).toMatchObject({ code: 0 });
  await sandbox.program.insertReferral();
  expect(await run('sync')).toMatchObject({ code: 0 });
  const { rows } = await moved.pool.query('select count(*) as count from referrals');
  expect(rows).toEqual([{ count: (await sandbox.allReferrals()).length }]);
  const [, second = ''] = await unpaid();
  expect(await run('commissions', 'pay', second, '--at', AT, '--wait')).toMatchObject({ code: 0 });
});

test('only the key that means an open run means that another sync runs', async () => {
  await runMigrations(moved.pool, { schema: 'mirror' });
  const db = makeDatabase(moved.pool);
  await startRun(db, { resource: 'referrals', mode: 'full' });
  await expect(startRun(db, { resource: 'referrals', mode: 'full' })).rejects.toThrow(
    'another sync of referrals',
  );
  await moved.pool.query(`create unique index theirs on sync_runs (mode) where state = 'running'`);
  await expect(startRun(db, { resource: 'affiliates', mode: 'full' })).rejects.toMatchObject({
    constraint: 'theirs',
  });
});
