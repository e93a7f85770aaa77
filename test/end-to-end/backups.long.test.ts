// A mirror that is brought back from a backup, on a server older than the embedded one: it works, its tables become
// equal to the program's again, and no payment is made twice.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import {
  readMirror,
  readMirrorEarnings,
  readProgram,
  readProgramEarnings,
} from '../support/compare-with-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDebianPostgres } from '../support/debian-postgres.ts';
import { runCli } from '../support/run-cli.ts';
import { makeServerDirectory } from '../support/server-directory.ts';

const AT = new Date().toISOString();

const server = await startDebianPostgres();

/** How a database is saved to a file, and brought back from it into another one, which is empty. */
const BACKUPS = {
  'of the schemas mirror and mirror_reports': async (saved: string, empty: string, file: string) => {
    await server.run('pg_dump', ['--schema', 'mirror', '--schema', 'mirror_reports', '-f', file, saved]);
    await server.run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', file, empty]);
  },
  'of the whole database': async (saved: string, empty: string, file: string) => {
    await server.run('pg_dump', ['--format', 'custom', '-f', file, saved]);
    await server.run('pg_restore', ['--exit-on-error', '-d', empty, file]);
  },
};

test.each(Object.entries(BACKUPS))('a backup %s brings the mirror back', async (_name, restore) => {
  const { pool } = await createTestDatabase();
  const sandbox = await runSandbox(pool, { affiliates: 20, referrals: 400, optionalLists: ['commissions'] });
  const environment = (database: string) => ({
    DATABASE_URL: database,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
  });
  const run = async (database: string, ...args: string[]) => {
    const ended = await runCli(args, environment(database));
    expect(ended, args.join(' ')).toMatchObject({ code: 0 });
    return ended.stdout;
  };
  const pay = (id: string) => ['commissions', 'pay', id, '--at', AT, '--even-if-refunded'];

  const former = await server.createDatabase();
  await run(former, 'migrate');
  await run(former, 'sync');
  const unpaid = (await sandbox.allCommissions()).filter(
    ({ paid_at, voided_at }) => paid_at === null && voided_at === null,
  );
  const ids = unpaid.slice(0, 4).map(({ id }) => id);
  const [paidBefore = '', paidAfter = '', cancelled = '', overlooked = ''] = ids;
  await run(former, ...pay(paidBefore), '--wait');
  for (const id of [paidAfter, cancelled, overlooked]) await run(former, ...pay(id));

  const restored = await server.createDatabase();
  const directory = await makeServerDirectory('affiliate-mirror-backup-');
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await restore(former, restored, join(directory, 'backup'));
  // What the backup does not have.
  for (const id of [cancelled, overlooked]) await run(former, 'commissions', 'cancel', id);
  await run(former, ...pay(paidAfter), '--wait');
  const { id: referralId } = await sandbox.program.insertReferral();
  await sandbox.program.insertSale(referralId);
  await run(former, 'sync');

  // What docs/operations.md says to do after a restore.
  await run(restored, 'migrate');
  await run(restored, 'doctor');
  await run(restored, 'commissions', 'cancel', cancelled);
  await run(restored, 'sync');
  const worker = await startCommandWorker(environment(restored));
  const settings = { url: restored, schema: 'mirror', max: 2, applicationName: 'test' };
  const mirror = makePool({ log: makeLogger('fatal') }, settings);
  onTestFinished(() => mirror.end());
  await expect
    .poll(async () => (await mirror.query('select state from commission_updates order by id')).rows)
    .toEqual(['applied', 'unchanged', 'cancelled', 'applied'].map((state) => ({ state })));
  expect(await worker.stop()).toBe(0);
  await run(restored, 'sync');

  const puts = sandbox.requests.filter(({ method }) => method === 'PUT');
  const received = ids.map((id) => puts.filter(({ url }) => url.includes(id)).length);
  expect(received).toEqual([1, 1, 0, 1]);
  expect(await readMirror(mirror)).toEqual(await readProgram(sandbox));
  expect(await readMirrorEarnings(mirror)).toEqual(await readProgramEarnings(sandbox));
  expect(JSON.parse(await run(restored, 'status', '--json'))).toMatchObject({ concerns: [] });
});
