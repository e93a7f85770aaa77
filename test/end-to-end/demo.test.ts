// The first thing a newcomer runs, from nothing: no variable, no database, an empty directory.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';

let dataDir: string;

beforeAll(async () => {
  dataDir = await makeDataDir();
});
afterAll(() => removeDataDir(dataDir));

test('demo pays what it says, keeps a real program out, tells what happens until Ctrl-C, and ends with 0', async () => {
  const child = spawnCli(['demo'], { DATA_DIR: dataDir });
  const ended = once(child, 'close');
  let url: string | undefined;
  let address: string | undefined;
  let page: string | undefined;
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const untilLine = async (wanted: RegExp) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`it never printed ${wanted}`);
      read(value);
      if (wanted.test(value)) return;
    }
  };
  const read = (line: string) => {
    url ??= /AFFILIATE_API_URL=(\S+)/.exec(line)?.[1];
    address ??= /psql '(postgres:\/\/\S+)'/.exec(line)?.[1];
    page ??= /look at it while it works, at (\S+)$/.exec(line)?.[1];
  };
  const ask = async (path: string) => (await fetch(new URL(path, page))).text();
  await untilLine(/^The API bundles commissions in \d+ payouts; [1-9]\d* of them due: [\d.,]+ [A-Z]{3}/);
  await untilLine(/affiliate-mirror status$/);
  expect(await ask('/')).toContain('All is well.');
  expect(await ask('/payments/ledger')).toMatch(/applied[\s\S]+conflict|conflict[\s\S]+applied/);
  expect(await ask('/metrics')).toMatch(/runs_total{resource="referrals",mode="full",outcome="succeeded"} 1/);
  expect(await ask('/queue')).toContain('<base href="/queue/" />');
  const answer = await fetch(`${url}/v1/affiliates?limit=1`, {
    headers: { authorization: `Basic ${Buffer.from(`${SECRET}:`).toString('base64')}` },
  });
  expect(answer.status).toBe(200);
  const connection = new URL(address ?? '');
  connection.password = (await readFile(join(dataDir, 'postgres', 'password'), 'utf8')).trim();
  const client = new pg.Client({ connectionString: connection.href });
  await client.connect();
  const { rows } = await client.query('select count(*)::int from mirror.referrals');
  // Its program is of today, or the last weeks would be empty on the status page.
  const newest = await client.query(
    `select max(created_at) between now() - interval '5 days' and now() as is_recent from mirror.referrals`,
  );
  expect(newest.rows).toEqual([{ is_recent: true }]);
  const payments = await client.query(
    'select state, puts::int from mirror.commission_ledger order by request limit 4',
  );
  const paid = { state: 'applied', puts: 1 };
  expect(payments.rows).toEqual([paid, paid, paid, { state: 'conflict', puts: 0 }]);
  await client.end();
  const real = {
    DATA_DIR: dataDir,
    AFFILIATE_API_URL: 'https://program.example',
    AFFILIATE_API_SECRET: SECRET,
  };
  const sync = await runCli(['sync'], real);
  expect(sync).toMatchObject({ code: 2, stderr: expect.stringContaining('affiliate-mirror demo') });
  // Time passes in the program already.
  expect(rows[0].count).toBeGreaterThanOrEqual(6_000);
  await untilLine(/^\d\d:\d\d:\d\d {2}in the affiliate program: /);
  child.kill('SIGINT');
  void untilLine(/^$/).catch(() => {});
  expect(await ended).toEqual([0, null]);
});

test('demo keeps out of a mirror that is not its own', async () => {
  const { url, pool } = await createTestDatabase();
  await pool.query(`insert into mirror.sync_runs (resource, mode) values ('affiliates', 'full')`);
  const demo = await runCli(['demo', '--once'], { DATABASE_URL: url });
  expect(demo).toMatchObject({ code: 2, stderr: expect.stringContaining('MIRROR_SCHEMA') });
});
