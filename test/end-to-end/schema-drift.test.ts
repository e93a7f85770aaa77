// A program that drifts from its contract: new fields, vanished fields, fields of another type. Nothing stops, nothing
// is lost, and each difference is logged once, when it is new.

import { expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

interface Wire {
  [field: string]: unknown;
}

const program = await createTestDatabase();
const sandbox = await runSandbox(program.pool, { affiliates: 20, referrals: 250 });
const mirror = await createTestDatabase();

function run(args: readonly string[], apiUrl = sandbox.url): Promise<CliRun> {
  return runCli(args, {
    AFFILIATE_API_URL: apiUrl,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
  });
}

/** Syncs from a program whose every listed record was altered; returns what was found, and how much of it was logged. */
async function syncAltered(alter: (record: Wire) => void) {
  const proxy = await startAlteringProxy(sandbox.url, (body) => {
    const envelope = JSON.parse(body) as { data: Wire[] };
    for (const record of envelope.data) alter(record);
    return JSON.stringify(envelope);
  });
  const { code, stdout, stderr } = await run(['sync', 'referrals', '--json'], proxy.url);
  await proxy.close();
  const found = await select(
    `select field, kind, found from schema_drift where resource = 'referrals' and occurrences > 0 and run_id = $1
     order by field, kind`,
    [JSON.parse(stdout).runs[0].id],
  );
  return { code, found, logged: stderr.match(/sync\.schema_drift/g)?.length ?? 0 };
}

async function select(sql: string, values: readonly unknown[] = []): Promise<Wire[]> {
  return (await mirror.pool.query(sql, [...values])).rows;
}

test('new fields are stored, vanished ones keep their values, retyped records are kept aside; each is logged once', async () => {
  await run(['sync']);
  const columns = 'id, visits, customer_name, expires_at, _changed_at';
  const before = await select(`select ${columns} from referrals order by id`);
  const vanish = (referral: Wire) => {
    delete referral['visits'];
    delete referral['expires_at'];
    delete (referral['customer'] as Wire | null)?.['name'];
  };
  expect(await syncAltered(vanish)).toEqual({
    code: 0,
    found: ['customer.name', 'expires_at', 'visits'].map((field) => ({
      field,
      kind: 'vanished',
      found: null,
    })),
    logged: 3,
  });
  expect(await select(`select ${columns} from referrals order by id`)).toEqual(before);

  const appear = (referral: Wire) => {
    referral['tier'] = { level: 'gold' };
    (referral['affiliate'] as Wire)['badge'] = 7;
  };
  const appeared = [
    { field: 'affiliate.badge', kind: 'appeared', found: 'number' },
    { field: 'tier', kind: 'appeared', found: 'object' },
  ];
  expect(await syncAltered(appear)).toEqual({ code: 0, found: appeared, logged: 2 });
  expect(await syncAltered(appear)).toEqual({ code: 0, found: appeared, logged: 0 });
  expect(await select('select distinct _extra from referrals')).toEqual([
    { _extra: { tier: { level: 'gold' } } },
  ]);
  expect(
    await select(
      `select from affiliates where _extra is distinct from '{"badge": 7}'
       and id in (select affiliate_id from referrals)`,
    ),
  ).toEqual([]);
  expect((await run(['status', 'drift'])).stdout).toMatch(/tier .* appeared .* object/);
  expect(JSON.parse((await run(['status', '--json'])).stdout).schema_drift).toMatchObject(appeared);

  const [first, second] = await sandbox.allReferrals();
  const retyped = await syncAltered((referral) => {
    if (referral['id'] === first?.id) referral['visits'] = String(referral['visits']);
    if (referral['id'] === second?.id) referral['visits'] = 4711;
  });
  expect(retyped).toEqual({
    code: 3,
    found: [{ field: 'visits', kind: 'retyped', found: 'string' }],
    logged: 1,
  });
  const rows = await select(
    'select id, visits, _deleted_at from referrals where id = any($1) order by visits desc',
    [[first?.id, second?.id]],
  );
  expect(rows).toEqual([
    { id: second?.id, visits: 4711, _deleted_at: null },
    { id: first?.id, visits: first?.visits, _deleted_at: null },
  ]);
  expect(await select('select distinct record_id, reason from rejected_records')).toEqual([
    { record_id: first?.id, reason: expect.stringContaining('visits') },
  ]);

  expect(await syncAltered(() => {})).toEqual({ code: 0, found: [], logged: 0 });
  expect((await run(['status', 'drift'])).stdout).not.toContain('visits');
});
