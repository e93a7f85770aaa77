// Payments beside requests that wait, of whoever: what is said of them, and how a command ends that somebody else's
// request kept from its own.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { runCli, runCliAlone } from '../support/run-cli.ts';

const FIRST = '2026-10-01T12:00:00Z';
const SECOND = '2026-10-02T12:00:00Z';

let database: TestDatabase;
let sandbox: TestSandbox;
let directory: string;
let unpaid: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await runSandbox(database.pool, { referrals: 300 });
  directory = await makeDirectory();
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from sandbox.commissions where paid_at is null and voided_at is null order by id limit 20',
  );
  unpaid = rows.map(({ id }) => id);
  return async () => {
    await sandbox.close();
  };
});

function take(count: number): string[] {
  const ids = unpaid.splice(0, count);
  expect(ids).toHaveLength(count);
  return ids;
}

const environment = (url = sandbox.url) => ({
  DATABASE_URL: database.url,
  AFFILIATE_API_URL: url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
});

const commissions = (args: readonly string[]) => runCli(['commissions', ...args], environment());

async function payoutFile(ids: readonly string[], at: string, expected = ''): Promise<string> {
  const path = join(directory, `${ids[0]}-${at.slice(0, 10)}${expected}.csv`);
  const rows = ids.map((id) => `${id},pay,${at},${expected}`);
  await writeFile(path, `commission_id,action,paid_at,expected_paid_at\n${rows.join('\n')}\n`);
  return path;
}

test('a payment that another one waits before is named in the dry run, as it is queued, and in its answer', async () => {
  const ids = take(1);
  await commissions(['apply', await payoutFile(ids, FIRST)]);
  const said =
    /another request waits for the same commission and is applied first: line 2 \(request \d+: pay 2026-10-01T12:00:00Z\)/;
  for (const expected of ['', 'unpaid']) {
    const dryRun = await commissions(['apply', await payoutFile(ids, SECOND, expected), '--dry-run']);
    expect(dryRun).toMatchObject({ code: 3, stderr: expect.stringMatching(said) });
  }
  const moved = await commissions(['apply', await payoutFile(ids, SECOND), '--wait', '--json']);
  expect(moved).toMatchObject({ code: 0, stderr: expect.stringMatching(said) });
  expect(JSON.parse(moved.stdout).requests).toMatchObject([
    { state: 'applied', note: 'it was paid at 2026-10-01T12:00:00Z before' },
  ]);
});

test('--wait ends with exit code 3 where somebody cancels a payment meanwhile, and names it', async () => {
  const asked = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const proxy = await startAlteringProxy(sandbox.url, async (body) => {
    asked.resolve();
    await cancelled.promise;
    return body;
  });
  const ids = take(3);
  const path = await payoutFile(ids, FIRST);
  const waiting = runCliAlone(['commissions', 'apply', path, '--wait'], environment(proxy.url));
  await asked.promise;
  const { rows } = await database.pool.query(
    'select batch_id from commission_updates where commission_id = any($1) limit 1',
    [ids],
  );
  // Of the first one the program was asked already.
  expect((await commissions(['cancel', rows[0].batch_id])).stdout).toContain('2 cancelled');
  cancelled.resolve();
  const { code, stdout, stderr } = await waiting;
  expect(code).toBe(3);
  expect(stderr).toContain('1 applied, 2 cancelled');
  expect(stdout.match(/\bcancelled\b/g)?.length).toBeGreaterThanOrEqual(2);
  await proxy.close();
});
