// A command that waits for the request budget says so, and until when.

import { expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

test('doctor says what it waits for, and until when, and goes on then', async () => {
  const { url, pool } = await createTestDatabase();
  const sandbox = await runSandbox(pool, { affiliates: 5, referrals: 5 });
  const environment = {
    DATABASE_URL: url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    LOG_LEVEL: 'warn',
  };
  await runCli(['migrate'], environment);
  await pool.query(`update request_budget set paused_until = clock_timestamp() + interval '4 seconds'`);

  const { code, stdout, stderr } = await runCli(['doctor'], environment);
  expect(stderr).toContain('budget.waited');
  expect(stderr).toContain('the program asked for a pause');
  expect(stderr).toMatch(/"until":"\d{4}-\d{2}-\d{2}T/);
  expect(stdout).toContain('All is well.');
  expect(code).toBe(0);
});
