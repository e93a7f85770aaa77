// The command `status` as a person reads it: what is wrong first, and the sections on demand. The figures are those of
// test/reports/; here the run log is filled by hand.

import { beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

const status = (...args: readonly string[]) => runCli(['status', ...args], { DATABASE_URL: database.url });

/** A run that succeeded: as old as that, of 6,000 records of which the last page was read twice. */
async function addRun(resource: string, age: string): Promise<void> {
  await database.pool.query(
    `insert into sync_runs (resource, mode, state, verified, started_at, finished_at, rows_seen, rows_unchanged, rows_repeated)
     values ($1, 'full', 'succeeded', true, now() - $2::interval, now() - $2::interval, 6100, 6000, 100)`,
    [resource, age],
  );
}

test('the first line says that all is well, or what is wrong and the command that fixes it', async () => {
  expect((await status()).stdout).toMatch(
    /^Not quite well: affiliates, referrals: never synced\. Run: affiliate-mirror sync\n {2}If it stays: the error of that sync .*\n\nSchema mirror in /,
  );
  await addRun('affiliates', '1 hour');
  await addRun('referrals', '1 hour');
  const { code, stdout, stderr } = await status();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^All is well\.\n\nSchema mirror in /);
  expect(stdout).toMatch(/affiliates .*Z .* 1 h 0 min .* succeeded .* 1 h 0 min ago/);
  expect(stdout.split('\n').length).toBeLessThan(16);
});

test('a sync that waits for an answer says for how long, before it fails', async () => {
  await database.pool.query(
    `insert into sync_runs (resource, mode, unanswered_since, unanswered_attempt)
     values ('referrals', 'full', now() - interval '47 seconds', 2)`,
  );
  expect((await status()).stdout).toMatch(
    /^referrals: the running sync has no answer for 4\d s, attempt 2$/m,
  );
});

test('with --max-age, what is older is named on stderr and fails with 3', async () => {
  await addRun('affiliates', '1 hour');
  const never = await status('--max-age', '26h');
  expect(never.code).toBe(3);
  expect(never.stderr).toBe('affiliate-mirror: stale, older than 1 d 2 h: referrals\n');

  await addRun('referrals', '90 minutes');
  for (const age of ['2h', '120m', '1d'])
    expect(await status('--max-age', age)).toMatchObject({ code: 0, stderr: '' });
  const old = await status('--max-age', '80m', '--json');
  expect(old.code).toBe(3);
  expect(old.stderr).toBe('affiliate-mirror: stale, older than 1 h 20 min: referrals\n');
  expect(JSON.parse(old.stdout)).toMatchObject({
    is_well: false,
    concerns: [{ code: 'stale', resource: 'referrals', fix: 'affiliate-mirror sync referrals' }],
  });
});

test('with --check, it fails with 5 if something is not well, but not for what waits for a user or for time', async () => {
  for (const resource of ['affiliates', 'referrals']) await addRun(resource, '1 hour');
  expect(await status('--check')).toMatchObject({ code: 0, stderr: '' });
  await database.pool.query(
    `insert into held_back_deletions (resource, record_id, run_id) values ('referrals', 'r1', 2)`,
  );
  const mild = await status('--check');
  expect(mild.code).toBe(0);
  expect(mild.stdout).toMatch(/^Not quite well: 1 deletion of referrals held back/);
  await database.pool.query(
    `insert into sync_runs (resource, mode, state, finished_at) values ('affiliates', 'delta', 'interrupted', now())`,
  );
  for (const args of [
    ['--check'],
    ['--check', '--json'],
    ['--check', 'runs'],
    ['--check', '--max-age', '2h'],
  ]) {
    expect((await status(...args)).code, args.join(' ')).toBe(5);
  }
  expect((await status('--check')).stdout).toMatch(
    /^Not well: the last sync of affiliates was stopped.*\n {2}If it stays: .*\nNot quite well: 1 deletion .*\n {2}If it stays: .*\n\nSchema mirror in /,
  );
  expect((await status('--check', '--max-age', '1m')).code).toBe(3);
  expect((await status()).code).toBe(0);
});

test.each([
  ['runs', /^Last runs\n[\s\S]* 6,000 .* 100 /m, /Rows|Payments/],
  ['rows', /^Rows\n[\s\S]*^Known commissions$/m, /Last runs/],
  ['budget', /^Request budget\n/m, /Rows/],
  ['payments', /^Payments\nnothing was asked for yet$/m, /Rows/],
  [
    'growth',
    /^Growth\n[\s\S]*is known a day after everything was read first\nThe space of the database is not known/m,
    /Rows/,
  ],
])('the section %s is shown below the first line, alone', async (section, shows, others) => {
  await addRun('affiliates', '1 hour');
  await addRun('referrals', '1 hour');
  const { stdout } = await status(section);
  expect(stdout).toMatch(/^All is well\.\n\n/);
  expect(stdout).toMatch(shows);
  expect(stdout).not.toMatch(others);
  expect((await status('--all')).stdout).toMatch(shows);
});
