// The delta sync as a user runs it: what it does, what it says that it costs, and what it says that it cannot see.

import { beforeAll, describe, expect, test } from 'vitest';
import { DELTA_BLIND_SPOTS } from '../../src/contract/delta-blind-spots.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

let sandbox: TestSandbox;
let mirror: TestDatabase;

beforeAll(async () => {
  const program = await createTestDatabase();
  sandbox = await runSandbox(program.pool, { affiliates: 150, referrals: 2_000 });
  mirror = await createTestDatabase();
  return () => sandbox.close();
});

function run(...args: string[]): Promise<CliRun> {
  return runCli(args, {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
  });
}

async function stateOf(id: string | undefined): Promise<string> {
  const { rows } = await mirror.pool.query('select conversion_state from referrals where id = $1', [id]);
  return rows[0].conversion_state;
}

describe('sync --mode delta', () => {
  test('of a mirror that was never synced reads everything, and says so', async () => {
    const { code, stdout, stderr } = await run('sync', '--mode', 'delta');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/to read \(plan\) .* everything /);
    expect(stdout).toMatch(/inserted .* 150 .* 2,000 /);
    expect(stderr).not.toContain('did not see');
  });

  test('of referrals alone syncs affiliates first, catches a conversion, and shows its plan, cost and blind spots', async () => {
    const [lead] = await sandbox.allReferrals('conversion_state=lead');
    await sandbox.program.updateReferral(lead?.id ?? '', { conversion_state: 'conversion' });
    const before = sandbox.requests.length;
    const { code, stdout, stderr } = await run('sync', 'referrals', '--mode', 'delta', '--json');
    expect(code, stderr).toBe(0);
    expect(await stateOf(lead?.id)).toBe('conversion');
    // Two pages of affiliates, the head of the referrals, and the one affiliate's.
    expect(sandbox.requests.length - before).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({
      runs: [
        { resource: 'affiliates', mode: 'delta', state: 'succeeded', plan: null, requests: 2 },
        {
          resource: 'referrals',
          mode: 'delta',
          state: 'succeeded',
          rows_updated: 1,
          requests: 2,
          plan: { strategy: 'delta', moved_affiliates: 1, expected_requests: 2, full_walk_requests: 21 },
        },
      ],
    });
    expect(stderr).toMatch(
      /a delta of referrals needs the affiliates’ counters: affiliates are synced first/,
    );
    expect(stderr).toContain('this delta of referrals did not see');
  });

  test('shows the plan beside what it came to, as a table', async () => {
    const { code, stdout, stderr } = await run('sync', '--mode', 'delta');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/to read \(plan\) .* – .* what changed /);
    expect(stdout).toMatch(/affiliates moved .* 0 /);
    expect(stdout).toMatch(/requests expected .* 1 /);
    expect(stdout).toMatch(/if all were read .* 21 /);
    expect(stderr).toMatch(/this delta of referrals did not see .* affiliate-mirror status drift/);
  });
});

describe('the blind spots of a delta', () => {
  test('are in the help', async () => {
    const { stdout } = await run('sync', '--help');
    const words = stdout.replaceAll(/\s+/g, ' ');
    for (const spot of DELTA_BLIND_SPOTS) expect(words).toContain(spot);
  });

  test('are in the status, with when everything was last read and how many deltas there were since', async () => {
    const { stdout } = await run('status', 'drift');
    for (const spot of DELTA_BLIND_SPOTS) expect(stdout).toContain(spot);
    const [, section = ''] = stdout.split('Blind spots\n');
    expect(section).toMatch(/affiliates .*Z .* 0 /);
    expect(section).toMatch(/referrals .*Z .* 2 /);
    const { resources } = JSON.parse((await run('status', '--json')).stdout);
    expect(resources).toMatchObject([{ deltas_since_everything: 0 }, { deltas_since_everything: 2 }]);
    expect(Date.parse(resources[1].everything_as_of)).toBeLessThan(Date.parse(resources[1].changes_as_of));
  });

  test('are closed by the next full sync, which says nothing of them', async () => {
    const [lead] = await sandbox.allReferrals('conversion_state=lead');
    await sandbox.program.deleteReferral(lead?.id ?? '');
    const delta = await run('sync', '--mode', 'delta', '--json');
    expect(delta.code, delta.stderr).toBe(0);
    const full = await run('sync', '--json');
    expect(full.code, full.stderr).toBe(0);
    expect(full.stderr).not.toContain('did not see');
    expect(JSON.parse(full.stdout)).toMatchObject({
      runs: [{ plan: null }, { plan: null, rows_deleted: 1 }],
    });
    expect(JSON.parse((await run('status', '--json')).stdout).resources[1].deltas_since_everything).toBe(0);
  });
});

test('a delta of referrals is not run while another process syncs the affiliates, whose counters it needs', async () => {
  const client = await mirror.pool.connect();
  try {
    await client.query(
      `select pg_advisory_lock(hashtextextended('affiliate-mirror run of affiliates in ' || current_schema(), 0))`,
    );
    const { code, stdout, stderr } = await run('sync', '--mode', 'delta', '--json');
    expect(code).toBe(4);
    expect(JSON.parse(stdout).runs).toMatchObject([{ resource: 'affiliates', state: 'skipped' }]);
    expect(stderr).toMatch(/^affiliate-mirror: without the affiliates, no delta of referrals$/m);
  } finally {
    client.release(true);
  }
});
