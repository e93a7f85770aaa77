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
    /^Not well: affiliates, referrals: never synced\. Run: affiliate-mirror sync\n\nSchema mirror in /,
  );
  await addRun('affiliates', '1 hour');
  await addRun('referrals', '1 hour');
  const { code, stdout, stderr } = await status();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^All is well\.\n\nSchema mirror in /);
  expect(stdout).toMatch(/affiliates .*Z .* 1 h 0 min .* succeeded .* 1 h 0 min ago/);
  expect(stdout.split('\n').length).toBeLessThan(15);
});

test('with --max-age, what is older is named on stderr and fails with 3', async () => {
  await addRun('affiliates', '1 hour');
  const never = await status('--max-age', '26h');
  expect(never.code).toBe(3);
  expect(never.stderr).toMatch(
    /^affiliate-mirror: referrals: stale: never synced and verified; .*1 d 2 h.*\n$/,
  );

  await addRun('referrals', '90 minutes');
  for (const age of ['2h', '120m', '1d'])
    expect(await status('--max-age', age)).toMatchObject({ code: 0, stderr: '' });
  const old = await status('--max-age', '80m', '--json');
  expect(old.code).toBe(3);
  expect(old.stderr).toMatch(
    /^affiliate-mirror: referrals: stale: as of .*Z, 1 h 30 min ago; .*1 h 20 min.*\n$/,
  );
  expect(JSON.parse(old.stdout)).toMatchObject({
    is_well: false,
    concerns: [{ code: 'stale', resource: 'referrals', fix: 'affiliate-mirror sync referrals' }],
  });
});

test('without --max-age a mirror is stale after 26 hours, which fails nothing', async () => {
  await addRun('affiliates', '25 hours');
  await addRun('referrals', '27 hours');
  const { code, stdout } = await status();
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Not well: referrals: stale: .*\(since .*Z\)\. Run: affiliate-mirror sync referrals\n\n/,
  );
});

test.each([
  ['runs', /^Last runs\n[\s\S]* 6,000 .* 100 [\s\S]*^what was read again/m, /Rows|Payments/],
  ['rows', /^Rows\n[\s\S]*^Known commissions$/m, /Last runs/],
  ['budget', /^Request budget\n/m, /Rows/],
  ['drift', /^Blind spots\n[\s\S]*^Where the program differs from its contract$/m, /Rows/],
  ['payments', /^Payments\nnothing was asked for yet$/m, /Rows/],
  [
    'growth',
    /^Growth\n[\s\S]*is known a day after everything was read first\nWhen its disk is full is not known/m,
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
