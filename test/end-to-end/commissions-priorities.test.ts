// Which commands of `commissions` have the priority of payments: those that change the program, and no others.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

let sandbox: TestSandbox;
let mirror: TestDatabase;
let directory: string;
let commission: string;

beforeAll(async () => {
  const program = await createTestDatabase();
  sandbox = await runSandbox(program.pool, { affiliates: 5, referrals: 50 });
  const { rows } = await program.pool.query<{ id: string }>(
    'select id from sandbox.commissions where paid_at is null and voided_at is null order by id limit 1',
  );
  commission = rows[0]?.id ?? '';
  mirror = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-priorities-'));
  await writeFile(
    join(directory, 'payouts.csv'),
    `commission_id,paid_at\n${commission},2026-02-03T04:05:06Z\n`,
  );
  await writeFile(
    join(directory, 'batch.csv'),
    `commission_id,action,paid_at\n${commission},pay,2026-02-03T04:05:06Z\n`,
  );
});

afterAll(async () => {
  await sandbox.close();
  await rm(directory, { recursive: true });
});

/** Returns the priorities of the command's requests; of those, some stay granted for a while after it. */
async function prioritiesOf(...args: string[]): Promise<string[]> {
  await mirror.pool.query('truncate request_permits');
  const { stderr } = await runCli(
    ['commissions', ...args.map((arg) => (arg.endsWith('.csv') ? join(directory, arg) : arg))],
    {
      AFFILIATE_API_URL: sandbox.url,
      AFFILIATE_API_SECRET: SECRET,
      API_RATE_LIMIT: '1000/60',
      DATABASE_URL: mirror.url,
    },
  );
  expect(stderr).not.toContain('affiliate-mirror:');
  const { rows } = await mirror.pool.query<{ priority: string }>(
    'select distinct priority from request_permits',
  );
  return rows.map(({ priority }) => priority);
}

test('what only reads is of the priority of reads: reconcile, and every dry run', async () => {
  expect(await prioritiesOf('reconcile', 'payouts.csv')).toEqual(['reads']);
  expect(await prioritiesOf('apply', 'batch.csv', '--dry-run')).toEqual(['reads']);
  expect(await prioritiesOf('pay', commission, '--dry-run')).toEqual(['reads']);
});

test('a payment goes first, also where reconcile asks for it', async () => {
  expect((await prioritiesOf('reconcile', 'payouts.csv', '--fix', '--wait')).toSorted()).toEqual([
    'payments',
    'reads',
  ]);
  expect((await sandbox.commission(commission)).paid_at).toMatch(/^2026-02-03T04:05:06/);
});
