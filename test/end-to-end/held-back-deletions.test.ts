// Held-back deletions on the command line: seen in every place where one looks, and accepted by whoever runs a worker.

import { beforeAll, expect, test } from 'vitest';
import { makeQueueing, type Queueing } from '../queue/queueing.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

let sandbox: TestSandbox;
let queueing: Queueing;

beforeAll(async () => {
  // Of 250 rows, up to 10 may be missing.
  sandbox = await runSandbox((await createTestDatabase()).pool, { affiliates: 20, referrals: 250 });
  queueing = await makeQueueing('postgres', sandbox);
  return () => sandbox.close();
});

const run = (...args: string[]) =>
  runCli(args, {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: queueing.settings.databaseUrl,
    API_RATE_LIMIT: 'none',
  });

async function countMarked(): Promise<number> {
  const { rows } = await queueing.pool.query(
    'select count(*) as count from mirror.referrals where _deleted_at is not null',
  );
  return rows[0].count;
}

test('are in the table, the JSON, the status and the list, until a worker has marked what was accepted', async () => {
  expect((await run('sync')).code).toBe(0);
  const gone = (await sandbox.allReferrals()).slice(50, 70);
  for (const { id } of gone) await sandbox.program.deleteReferral(id);

  const synced = await run('sync', 'referrals');
  expect(synced.code).toBe(3);
  expect(synced.stdout).toMatch(/state .* partial /);
  expect(synced.stdout).toMatch(/held back .* 20 /);
  expect(synced.stdout).toMatch(/verified .* yes /);
  expect(synced.stderr).toMatch(
    /^affiliate-mirror: referrals: 20 deletions held back: .*"affiliate-mirror deletions accept referrals"$/m,
  );
  const { runs } = JSON.parse((await run('sync', 'referrals', '--json')).stdout);
  expect(runs).toMatchObject([{ state: 'partial', verified: true, rows_deleted: 0, deletes_held_back: 20 }]);

  expect((await run('status')).stdout).toMatch(
    /^Not well: 20 deletions of referrals held back.* Run: affiliate-mirror deletions list referrals\n/,
  );
  expect((await run('status', 'runs')).stdout).toMatch(/run \d+ partial: 20 deletions held back/);

  const listed = (await run('deletions', 'list', '--json')).stdout;
  const rows: { record_id: string; affiliate_id: string }[] = JSON.parse(listed).held_back;
  expect(rows.map(({ record_id }) => record_id).toSorted()).toEqual(gone.map(({ id }) => id).toSorted());
  const table = (await run('deletions', 'list', 'referrals')).stdout;
  for (const { record_id, affiliate_id } of rows) {
    expect(table).toContain(record_id);
    expect(table).toContain(affiliate_id);
  }
  expect(table).toMatch(/really gone: affiliate-mirror deletions accept referrals\n$/);
  expect(table + listed).not.toContain('@');

  expect((await run('deletions', 'accept', 'affiliates')).stdout).toMatch(/no deletions of affiliates/);
  const accepted = await run('deletions', 'accept', 'referrals');
  expect((await run('deletions', 'list', 'referrals')).stdout).not.toContain('really gone');
  expect(accepted).toMatchObject({ code: 0, stderr: '' });
  expect(accepted.stdout).toMatch(/^20 deletions of referrals are accepted\. A running worker .* once more/);
  expect(JSON.parse((await run('deletions', 'accept', 'referrals', '--json')).stdout)).toEqual({
    resource: 'referrals',
    accepted: 20,
  });
  expect((await run('status')).stdout).toContain(
    '20 deletions are held back and accepted: the next full sync',
  );
  expect(await countMarked()).toBe(0);

  const worker = await queueing.start();
  await expect.poll(countMarked).toBe(20);
  await expect.poll(async () => (await run('status')).stdout).not.toMatch(/are held back/);
  expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
  expect((await run('deletions', 'list')).stdout).toBe('no deletions are held back\n');
});

test('of something that is not listed are refused', async () => {
  const refused = await run('deletions', 'accept', 'sales');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/Allowed choices are affiliates, referrals/);
  expect((await run('deletions', 'accept')).code).toBe(2);
});
