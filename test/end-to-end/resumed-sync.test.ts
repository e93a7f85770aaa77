// A sync that is killed near its end while the program goes on changing, and taken up again much later: it says that
// it proves nothing, and the next one does.

import { once } from 'node:events';
import { expect, test } from 'vitest';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';

test('a sync that is resumed an hour later exits 3, says that it was resumed and deletes nothing; a fresh one is verified', async () => {
  const program = await createTestDatabase();
  const mirror = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { spelling: 'live', affiliates: 40, referrals: 1500 });
  const environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
  };
  const sync = () => runCli(['sync', '--json', 'referrals'], environment);
  const lastRun = async () =>
    (await mirror.pool.query('select * from sync_runs order by id desc limit 1')).rows[0];
  expect(await runCli(['sync'], environment)).toMatchObject({ code: 0 });

  sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', after: 14, times: 1 }] });
  const killed = spawnCli(['sync', 'referrals'], environment);
  await expect.poll(async () => (await lastRun()).pages).toBe(14);
  killed.kill('SIGKILL');
  await once(killed, 'close');
  sandbox.setFaults(NO_FAULTS);
  // The program changes where it was read before, keeps its total, and comes to rest.
  const list = await sandbox.allReferrals();
  for (const { id } of list.slice(100, 105)) await sandbox.program.deleteReferral(id);
  for (let index = 0; index < 5; index += 1)
    await sandbox.program.insertReferral({ conversion_state: 'visitor' });
  for (const { id } of list.slice(300, 330)) await sandbox.program.updateReferral(id, { visits: 4711 });
  await mirror.pool.query(
    `update sync_runs set started_at = started_at - interval '1 hour', heartbeat_at = heartbeat_at - interval '1 hour'
     where state = 'running'`,
  );

  const resumed = await sync();
  const reason = expect.stringMatching(/^unverified because it was resumed: .* minutes old/);
  expect(resumed.code).toBe(3);
  expect(JSON.parse(resumed.stdout).runs).toMatchObject([
    { state: 'partial', verified: false, reason, rows_deleted: 0, deletes_held_back: 0 },
  ]);
  expect(resumed.stderr).toMatch(
    /affiliate-mirror: referrals: unverified because it was resumed.*nothing was marked deleted: sync again/,
  );
  expect(await lastRun()).toMatchObject({ state: 'partial', attempt: 2, error: reason, checkpoint: null });
  expect(resumed.stderr).toContain('sync.unverified');
  const { rows } = await mirror.pool.query('select from referrals where _deleted_at is not null');
  expect(rows).toEqual([]);
  // Not all of the list was read again: what was left, a page before it, and the head.
  expect(JSON.parse(resumed.stdout).runs[0].requests).toBeLessThanOrEqual(14 + 4);

  const fresh = await sync();
  expect(fresh.code, fresh.stderr).toBe(0);
  expect(JSON.parse(fresh.stdout).runs).toMatchObject([
    { verified: true, rows_deleted: 5, rows_updated: 30 },
  ]);
  expect(await readMirror(mirror.pool)).toEqual(await readProgram(sandbox));
});
