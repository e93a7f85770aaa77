// Campaigns and commissions as a user syncs them, against a program that lists them and one that does not.

import { expect, test } from 'vitest';
import { OPTIONAL_LISTS, type OptionalList } from '../../src/config/optional-lists.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readMirrorEarnings, readProgramEarnings } from '../support/compare-with-program.ts';
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
  ]);
  expect(await readMirrorEarnings(mirror.pool)).toEqual(await readProgramEarnings(sandbox));

  // The oldest is not on the head of the list.
  const due = (await sandbox.allCommissions('state=due')).at(-1);
  await sandbox.put(due?.id ?? '', 'paid_at=2026-09-01T00:00:00Z');
  const delta = await run(['sync', 'commissions', '--mode', 'delta']);
  expect(delta.code, delta.stderr).toBe(0);
  expect(delta.stdout).toMatch(/commissions moved .* 1 /);
  expect(delta.stderr).toMatch(/this delta of commissions did not see/);
  expect(await readMirrorEarnings(mirror.pool)).toEqual(await readProgramEarnings(sandbox));

  const status = await run(['status']);
  expect(status.stdout).toMatch(/commissions .* succeeded /);
  expect((await run(['status', 'rows'])).stdout).toMatch(
    /campaigns: the program lists them, asked at .*\ncommissions: the program lists them, asked at /,
  );
  expect((await run(['doctor'])).stdout).toMatch(/^✓ commissions: the program lists them/m);
  expect((await run(['doctor'], { OPTIONAL_LISTS: 'commissions' })).stdout).toMatch(
    /^✓ campaigns: OPTIONAL_LISTS leaves them out: .*\n✓ commissions: OPTIONAL_LISTS names them, and the program lists [\d,]+$/m,
  );
  await sandbox.close();
});

test('where the program does not say it, a sync reads what it can, says what it left out, and exits 3', async () => {
  const { sandbox, mirror, run } = await setUp(OPTIONAL_LISTS);
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', route: '/v1/commissions' }] });
  const first = await run(['sync', '--json']);
  expect(first.code, first.stderr).toBe(3);
  expect(JSON.parse(first.stdout).runs).toHaveLength(3);
  expect(first.stderr).toMatch(
    /^affiliate-mirror: commissions were not synced, since the program did not say whether it lists them: .*GET \/v1\/commissions.*; OPTIONAL_LISTS decides it without asking$/m,
  );
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', route: '/v1/commissions', times: 2 }] });
  expect((await run(['migrate'])).code).toBe(0);
  const doctor = await run(['doctor']);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/^✗ commissions: .*GET \/v1\/commissions.*\n\n11 checks, 1 failed\n$/m);
  sandbox.setFaults(NO_FAULTS);
  expect((await run(['sync'])).code).toBe(0);
  // What was known before holds.
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', route: '/v1/commissions' }] });
  expect(await run(['doctor'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('– commissions: not checked while the program does not say'),
  });
  expect(await readMirrorEarnings(mirror.pool)).toEqual(await readProgramEarnings(sandbox));
  await sandbox.close();
});

test('where they are not, a sync costs six requests more a day, and naming them is refused with the reason', async () => {
  const { sandbox, run } = await setUp([]);
  for (const _ of [1, 2]) {
    const sync = await run(['sync', '--json']);
    expect(sync.code, sync.stderr).toBe(0);
    expect(JSON.parse(sync.stdout).runs).toHaveLength(2);
  }
  expect(count(sandbox, '/v1/commissions')).toBe(2);
  expect(sandbox.requests.filter(({ url }) => /[?&]limit=1(&|$)/.test(url))).toHaveLength(6);
  const named = await run(['sync', 'commissions']);
  expect(named.code).toBe(2);
  expect(named.stderr).toMatch(/^affiliate-mirror: commissions are not listed: .*404.*commissions track/m);
  const off = await run(['sync', 'commissions'], { OPTIONAL_LISTS: 'none' });
  expect(off.code).toBe(2);
  const status = await run(['status']);
  expect(status.stdout).toContain(
    'commissions: OPTIONAL_LISTS leaves them out: known ones are read one by one',
  );
  await run(['sync']);
  expect((await run(['status', 'rows'])).stdout).toContain(
    'the program does not list them (404 for GET /v1/commissions)',
  );
  for (const args of [['sync'], ['sync', 'commissions', '--json']]) {
    const on = await run(args, { OPTIONAL_LISTS: 'commissions' });
    expect(on.code).toBe(2);
    expect(on.stderr).toMatch(
      /^affiliate-mirror: OPTIONAL_LISTS names commissions, but .*404.*Set it to auto, or leave them out$/m,
    );
  }
  const doctor = await run(['doctor'], { OPTIONAL_LISTS: 'commissions' });
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/^✗ commissions: OPTIONAL_LISTS names commissions, but .*404/m);
  const refused = await run(['sync', 'commissions'], { AFFILIATE_API_SECRET: 'wrong' });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('AFFILIATE_API_SECRET');
  await sandbox.close();
});
