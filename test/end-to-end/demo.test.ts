// The first thing a newcomer runs, from nothing: no variable, no database, an empty directory.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';

let dataDir: string;

beforeAll(async () => {
  dataDir = await makeDataDir();
});
afterAll(() => removeDataDir(dataDir));

test('demo stays up until Ctrl-C, serves its program and its database meanwhile, and then ends with 0', async () => {
  const child = spawnCli(['demo'], { DATA_DIR: dataDir });
  const ended = once(child, 'close');
  let url: string | undefined;
  let address: string | undefined;
  let page: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    url ??= /AFFILIATE_API_URL=(\S+)/.exec(line)?.[1];
    address ??= /psql '(postgres:\/\/\S+)'/.exec(line)?.[1];
    const isFirst = page === undefined;
    page ??= /status page, .*: (\S+)$/.exec(line)?.[1];
    // It is there from the first line on, whatever the demo has done when this process gets to look.
    if (isFirst && page !== undefined) {
      expect(await (await fetch(page)).text()).toMatch(/<title>(?:Starting|Not well|All is well)/);
    }
    if (line.endsWith('affiliate-mirror status')) break;
  }
  expect(await (await fetch(page ?? '')).text()).toContain('All is well.');
  const answer = await fetch(`${url}/v1/affiliates?limit=1`, {
    headers: { authorization: `Basic ${Buffer.from(`${SECRET}:`).toString('base64')}` },
  });
  expect(answer.status).toBe(200);
  const connection = new URL(address ?? '');
  connection.password = (await readFile(join(dataDir, 'postgres', 'password'), 'utf8')).trim();
  const client = new pg.Client({ connectionString: connection.href });
  await client.connect();
  const { rows } = await client.query('select count(*)::int from mirror.referrals');
  await client.end();
  expect(rows).toEqual([{ count: 6_000 }]);
  child.stdout.resume();
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
});

test('demo keeps out of a mirror that is not its own, pays what it says, and keeps a real program out', async () => {
  const database = await createTestDatabase();
  const sandbox = await runSandbox(database.pool);
  try {
    const own = {
      AFFILIATE_API_URL: sandbox.url,
      AFFILIATE_API_SECRET: SECRET,
      API_RATE_LIMIT: 'none',
      DATABASE_URL: database.url,
    };
    expect((await runCli(['sync', 'affiliates'], own)).code).toBe(0);
    const demo = await runCli(['demo', '--once'], { DATABASE_URL: database.url });
    expect(demo.code).toBe(2);
    expect(demo.stderr).toContain('MIRROR_SCHEMA');
    const { rows } = await database.pool.query<{ count: number }>('select count(*) from mirror.affiliates');
    expect(rows).toEqual([{ count: 60 }]);

    const apart = { DATABASE_URL: database.url, MIRROR_SCHEMA: 'demo_mirror' };
    expect((await runCli(['demo', '--once'], apart)).code).toBe(0);
    const payments = await database.pool.query(
      `select line.state, program.paid_at is not null as is_paid, puts
       from demo_mirror.commission_ledger line join demo_program.commissions program on program.id = commission_id
       order by request`,
    );
    const paid = { state: 'applied', is_paid: true, puts: 1 };
    expect(payments.rows).toEqual([paid, paid, paid, { state: 'conflict', is_paid: false, puts: 0 }]);
    // Its program is of today, or the last weeks would be empty on the status page.
    const newest = await database.pool.query(
      `select max(created_at) between now() - interval '5 days' and now() as is_recent from demo_mirror.referrals`,
    );
    expect(newest.rows).toEqual([{ is_recent: true }]);
    const real = { ...own, ...apart, AFFILIATE_API_URL: 'https://program.example' };
    const sync = await runCli(['sync'], real);
    expect(sync.code).toBe(2);
    expect(sync.stderr).toContain('affiliate-mirror demo');
  } finally {
    await sandbox.close();
  }
});
