// Another account on the command line: every command that reads the API says so, with what to do, and exits with 1.

import { expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

const SIZE = { affiliates: 20, referrals: 100 };
const OTHER_SECRET = 'the-secret-of-another-account';

test("another account's secret at the same address changes nothing until a person accepts it", async () => {
  const first = await runSandbox((await createTestDatabase()).pool, SIZE);
  const { url, pool } = await createTestDatabase();
  const run = (secret: string, ...args: string[]) =>
    runCli(args, {
      AFFILIATE_API_URL: first.url,
      AFFILIATE_API_SECRET: secret,
      DATABASE_URL: url,
      API_RATE_LIMIT: 'none',
    });
  const readLiving = async () =>
    (await pool.query('select id from affiliates where _deleted_at is null order by id')).rows;
  expect(await run(SECRET, 'sync')).toMatchObject({ code: 0 });
  const living = await readLiving();
  await first.close();

  const { pool: otherPool } = await createTestDatabase();
  const other = { ...SIZE, seed: 99, secret: OTHER_SECRET, port: first.port };
  const then = await runSandbox(otherPool, other);
  const says = /none of the records that the mirror has.*"affiliate-mirror sync --accept-program"/;
  for (const command of [['sync'], ['sync', '--mode', 'delta', '--accept-deletes']]) {
    const refused = await run(OTHER_SECRET, ...command);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
  }
  expect(await run(OTHER_SECRET, 'doctor')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(says),
  });
  expect((await run(OTHER_SECRET, 'status', 'runs')).stdout).toContain('PROGRAM_CHANGED');
  expect(await readLiving()).toEqual(living);

  const accepted = await run(OTHER_SECRET, 'sync', '--accept-program', '--accept-deletes');
  expect(accepted).toMatchObject({ code: 0 });
  const ids = (await readLiving()).map(({ id }) => id);
  expect(ids).toHaveLength(SIZE.affiliates);
  expect(living.filter(({ id }) => ids.includes(id))).toEqual([]);
  await then.close();
});
