// Campaigns, commissions and payouts as a user syncs them, against a program that lists them and one that does not.

import { expect, test } from 'vitest';
import { OPTIONAL_LISTS, type OptionalList } from '../../src/contract/optional-lists.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readMirrorPayouts, readProgramPayouts } from '../support/compare-with-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

const PROGRAM = { affiliates: 20, referrals: 600 };

async function setUp(optionalLists: readonly OptionalList[]) {
  const program = await createTestDatabase();
  const mirror = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { ...PROGRAM, optionalLists });
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runCli(args, {
      AFFILIATE_API_URL: sandbox.url,
      AFFILIATE_API_SECRET: SECRET,
      DATABASE_URL: mirror.url,
      API_RATE_LIMIT: 'none',
      ...more,
    });
  return { sandbox, mirror, run };
}

const count = (sandbox: TestSandbox, path: string) =>
  sandbox.requests.filter((request) => request.url.startsWith(path)).length;

test('where they are listed, a sync and a delta read them, and status says so', async () => {
  const { sandbox, mirror, run } = await setUp(OPTIONAL_LISTS);
  const full = await run(['sync', '--json']);
  expect(full.code, full.stderr).toBe(0);
  const { runs } = JSON.parse(full.stdout);
  expect(runs.map(({ resource }: { resource: string }) => resource)).toEqual([
    'affiliates',
    'referrals',
    'campaigns',
    'commissions',
    'payouts',
  ]);
  expect(await readMirrorPayouts(mirror.pool)).toEqual(await readProgramPayouts(sandbox));

  // The oldest is not on the head of the list.
  const due = (await sandbox.allCommissions('state=due')).at(-1);
  await sandbox.put(due?.id ?? '', 'paid_at=2026-09-01T00:00:00Z');
  const delta = await run(['sync', 'commissions', '--mode', 'delta', '--json']);
  expect(delta.code, delta.stderr).toBe(0);
  expect(JSON.parse(delta.stdout).runs[0].plan).toMatchObject({ strategy: 'delta', moved_records: 1 });
  expect(delta.stderr).toMatch(/this delta of commissions did not see/);
  expect(await readMirrorPayouts(mirror.pool)).toEqual(await readProgramPayouts(sandbox));

  const status = await run(['status']);
  expect(status.stdout).toMatch(/commissions .* succeeded /);
  expect((await run(['doctor'])).stdout).toMatch(/^✓ commissions: the API lists them/m);
  expect((await run(['doctor'], { OPTIONAL_LISTS: 'commissions' })).stdout).toMatch(
    /^✓ campaigns: OPTIONAL_LISTS leaves them out: .*\n✓ commissions: OPTIONAL_LISTS names them: a sync .*\n✓ payouts: OPTIONAL_LISTS leaves them out: none is known$/m,
  );
});

test('where the program does not say it, a sync reads what it can, says what it left out, and exits 3', async () => {
  const { sandbox, run } = await setUp(OPTIONAL_LISTS);
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', route: '/v1/commissions' }] });
  const first = await run(['sync', '--json']);
  expect(first.code, first.stderr).toBe(3);
  expect(JSON.parse(first.stdout).runs).toHaveLength(4);
  expect(first.stderr).toMatch(
    /^affiliate-mirror: commissions were not synced, since the API did not say whether it lists them: .*GET \/v1\/commissions.*; OPTIONAL_LISTS decides it without asking$/m,
  );
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', route: '/v1/commissions', times: 2 }] });
  expect((await run(['migrate'])).code).toBe(0);
  const doctor = await run(['doctor']);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(
    /^✗ commissions: .*GET \/v1\/commissions.*\n✓ payouts: .*\n\n13 checks, 1 failed\n$/m,
  );
});

test('where they are not, a sync costs four requests more a day, and naming them is refused with the reason', async () => {
  const { sandbox, run } = await setUp([]);
  const sync = await run(['sync', '--json']);
  expect(sync.code, sync.stderr).toBe(0);
  expect(JSON.parse(sync.stdout).runs).toHaveLength(2);
  expect(count(sandbox, '/v1/commissions')).toBe(1);
  expect(count(sandbox, '/v1/payouts')).toBe(1);
  expect(sandbox.requests.filter(({ url }) => /[?&]limit=1(&|$)/.test(url))).toHaveLength(4);
  const named = await run(['sync', 'commissions']);
  expect(named.code).toBe(2);
  expect(named.stderr).toMatch(/^affiliate-mirror: commissions are not listed: .*404.*commissions track/m);
  const id = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
  for (const args of [['list'], ['pay', id], ['pay', id, '--wait']]) {
    const { code, stderr } = await run(['payouts', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^affiliate-mirror: nothing was read or sent, as payouts are not listed: .*404 for GET \/v1\/payouts.*check AFFILIATE_API_URL .*sync payouts"\n$/,
    );
  }
  expect(sandbox.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  const { stdout: status } = await run(['status']);
  for (const list of ['commissions', 'payouts']) {
    expect(status).toContain(`${list}: the API does not list them (404 for GET /v1/${list})`);
  }
  const on = await run(['sync'], { OPTIONAL_LISTS: 'commissions' });
  expect(on.code).toBe(2);
  expect(on.stderr).toMatch(
    /^affiliate-mirror: OPTIONAL_LISTS names commissions, but .*404.*Set it to auto, or leave them out$/m,
  );
});
