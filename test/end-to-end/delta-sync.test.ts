// The delta sync as a user runs it: what it does, what it says that it costs, and what it says that it cannot see.

import { describe, expect, test } from 'vitest';
import { DELTA_BLIND_SPOTS } from '../../src/contract/delta-blind-spots.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

const program = await createTestDatabase();
const sandbox = await runSandbox(program.pool, { affiliates: 150, referrals: 2_000 });
const mirror = await createTestDatabase();

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
    const { code, stdout, stderr } = await run('sync', '--mode', 'delta', '--json');
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).runs).toMatchObject([
      { rows_inserted: 150 },
      { rows_inserted: 2_000, plan: { strategy: 'full' } },
    ]);
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
});

test('the blind spots of a delta are in the help and in the status', async () => {
  const help = (await run('sync', '--help')).stdout.replaceAll(/\s+/g, ' ');
  const status = (await run('status', 'drift')).stdout;
  for (const spot of DELTA_BLIND_SPOTS) {
    expect(help).toContain(spot);
    expect(status).toContain(spot);
  }
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
