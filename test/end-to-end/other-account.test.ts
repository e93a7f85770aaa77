// Another account on the command line: every command that reads the API says so, with what to do, and exits with 1.

import { expect, test } from 'vitest';
import { makeQueueing } from '../queue/queueing.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

const SIZE = { affiliates: 20, referrals: 100 };
const OTHER_SECRET = 'the-secret-of-another-account';

/** What answers afterwards at the address that the mirror was made from. */
const THEN = {
  "another account's secret at the same address": { seed: 99, secret: OTHER_SECRET },
  'the account, wiped, with all records made anew': { seed: 98, reset: true },
};

test.each(Object.entries(THEN))('%s changes nothing until a person accepts it', async (_what, options) => {
  const { pool: programPool } = await createTestDatabase();
  const first = await runSandbox(programPool, SIZE);
  const { settings, pool } = await makeQueueing('postgres', first);
  const run = (secret: string, ...args: string[]) =>
    runCli(args, {
      AFFILIATE_API_URL: first.url,
      AFFILIATE_API_SECRET: secret,
      DATABASE_URL: settings.databaseUrl,
      API_RATE_LIMIT: 'none',
    });
  const readLiving = () =>
    pool
      .query('select id from mirror.affiliates where _deleted_at is null order by id')
      .then(({ rows }) => rows.map(({ id }) => id));
  expect(await run(SECRET, 'sync')).toMatchObject({ code: 0 });
  const living = await readLiving();
  const { port } = first;
  await first.close();

  const { pool: otherPool } = 'reset' in options ? { pool: programPool } : await createTestDatabase();
  const then = await runSandbox(otherPool, { ...SIZE, ...options, port });
  const secret = 'secret' in options ? options.secret : SECRET;
  const says = /none of the records that the mirror has.*"affiliate-mirror sync --accept-program"/;
  for (const command of [['sync'], ['sync', '--mode', 'delta', '--accept-deletes']]) {
    const refused = await run(secret, ...command);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
  }
  expect(await run(secret, 'doctor')).toMatchObject({ code: 1, stdout: expect.stringMatching(says) });
  expect((await run(secret, 'status', 'runs')).stdout).toContain('PROGRAM_CHANGED');
  expect(await readLiving()).toEqual(living);

  expect(await run(secret, 'sync', '--accept-program', '--accept-deletes')).toMatchObject({ code: 0 });
  const accepted = await readLiving();
  expect(accepted).toHaveLength(SIZE.affiliates);
  expect(accepted.filter((id) => living.includes(id))).toEqual([]);
  await then.close();
});
