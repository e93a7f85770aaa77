// Held-back deletions on the command line: seen in every place where one looks, and accepted by whoever runs a worker.

import { expect, test } from 'vitest';
import { readDocument } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

// Of 250 rows, up to 10 may be missing.
const sandbox = await runSandbox((await createTestDatabase()).pool, { affiliates: 20, referrals: 250 });
const mirror = await createTestDatabase();
const environment = {
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  DATABASE_URL: mirror.url,
  API_RATE_LIMIT: 'none',
};
const run = (...args: string[]) => runCli(args, environment);

async function countMarked(): Promise<number> {
  const { rows } = await mirror.pool.query(
    'select count(*) as count from referrals where _deleted_at is not null',
  );
  return rows[0].count;
}

test('are in the table, the JSON, the status and the list, until a worker has marked what was accepted', async () => {
  expect((await run('migrate')).code).toBe(0);
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
  expect((await run('status')).stdout).toMatch(
    /^Not quite well: 20 deletions of referrals held back.* Run: affiliate-mirror deletions list referrals\n/,
  );
  expect((await run('status', 'runs')).stdout).toMatch(/run \d+ partial: 20 deletions held back/);

  const listed = (await run('deletions', 'list', '--json')).stdout;
  const rows: { record_id: string; name: string | null; email: string | null; affiliate_name: string }[] =
    readDocument('deletions-list', listed).held_back;
  expect(rows.map(({ record_id }) => record_id).toSorted()).toEqual(gone.map(({ id }) => id).toSorted());
  const table = (await run('deletions', 'list', 'referrals')).stdout;
  for (const { record_id, name, email, affiliate_name } of rows) {
    const customer = gone.find(({ id }) => id === record_id)?.customer;
    expect([name, email]).toEqual([customer?.name ?? null, customer?.email ?? null]);
    const line = table.split('\n').find((text) => text.includes(record_id));
    expect(line).toContain(affiliate_name);
    expect(line).toContain(name ?? email ?? '–');
    // When it was created, when it last changed, and since when it is held back.
    expect(line?.match(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g)).toHaveLength(3);
  }
  expect(table).toMatch(/really gone: affiliate-mirror deletions accept referrals\n$/);

  expect((await run('deletions', 'accept', 'affiliates')).stdout).toMatch(/no deletions of affiliates/);
  const accepted = await run('deletions', 'accept', 'referrals');
  expect((await run('deletions', 'list', 'referrals')).stdout).not.toContain('really gone');
  expect(accepted).toMatchObject({ code: 0, stderr: '' });
  expect(accepted.stdout).toMatch(/^20 deletions of referrals are accepted\. A running worker .* once more/);
  expect((await run('status')).stdout).toContain(
    '20 deletions are held back and accepted: the next full sync',
  );
  expect(await countMarked()).toBe(0);

  const worker = await startCommandWorker(environment);
  await expect.poll(countMarked).toBe(20);
  await expect.poll(async () => (await run('status')).stdout).not.toMatch(/are held back/);
  expect(await worker.stop()).toBe(0);
  expect((await run('deletions', 'list')).stdout).toBe('no deletions are held back\n');
});
