// A program that drifts from its contract: new fields, vanished fields, fields of another type. Nothing stops, nothing
// is lost, and each difference is logged once, when it is new.

import { beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

interface Wire {
  [field: string]: unknown;
}

let sandbox: TestSandbox;

beforeAll(async () => {
  const program = await createTestDatabase();
  sandbox = await runSandbox(program.pool, { affiliates: 20, referrals: 250 });
  return () => sandbox.close();
});

function run(args: readonly string[], mirror: TestDatabase, apiUrl = sandbox.url): Promise<CliRun> {
  return runCli(args, {
    AFFILIATE_API_URL: apiUrl,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
  });
}

/** Syncs from a program whose every listed record was altered. */
async function syncAltered(mirror: TestDatabase, alter: (record: Wire) => void): Promise<CliRun> {
  const proxy = await startAlteringProxy(sandbox.url, (body) => {
    const envelope = JSON.parse(body) as { data: Wire[] };
    for (const record of envelope.data) alter(record);
    return JSON.stringify(envelope);
  });
  try {
    return await run(['sync', 'referrals', '--json'], mirror, proxy.url);
  } finally {
    await proxy.close();
  }
}

async function driftOf(mirror: TestDatabase, { stdout }: CliRun) {
  const runId = JSON.parse(stdout).runs[0].id;
  const { rows } = await mirror.pool.query(
    'select resource, field, kind, found, occurrences from schema_drift where run_id = $1 order by field, kind',
    [runId],
  );
  return rows;
}

const drifts = ({ stderr }: CliRun) => stderr.match(/sync\.schema_drift/g) ?? [];

describe('a field that the contract does not know', () => {
  test('is kept in _extra, in schema_drift and in the status, and logged when it is new; the sync succeeds', async () => {
    const mirror = await createTestDatabase();
    await run(['sync'], mirror);
    const drift = (referral: Wire) => {
      referral['tier'] = { level: 'gold' };
      (referral['affiliate'] as Wire)['badge'] = 7;
    };
    const result = await syncAltered(mirror, drift);
    expect(result.code, result.stderr).toBe(0);
    const stored = [
      {
        resource: 'referrals',
        field: 'affiliate.badge',
        kind: 'appeared',
        found: 'number',
        occurrences: expect.any(Number),
      },
      {
        resource: 'referrals',
        field: 'tier',
        kind: 'appeared',
        found: 'object',
        occurrences: expect.any(Number),
      },
    ];
    expect(await driftOf(mirror, result)).toEqual(stored);
    expect(drifts(result)).toHaveLength(2);
    const again = await syncAltered(mirror, drift);
    expect(await driftOf(mirror, again)).toEqual(stored);
    expect(drifts(again)).toEqual([]);
    const { rows } = await mirror.pool.query('select distinct _extra from referrals');
    expect(rows).toEqual([{ _extra: { tier: { level: 'gold' } } }]);
    const { rows: affiliates } = await mirror.pool.query(
      `select count(*) as count from affiliates where _extra = '{"badge": 7}'
       and id in (select affiliate_id from referrals)`,
    );
    const { rows: referring } = await mirror.pool.query(
      'select count(distinct affiliate_id) as count from referrals',
    );
    expect(affiliates).toEqual(referring);
    const status = await run(['status', 'drift'], mirror);
    expect(status.stdout).toMatch(/tier .* appeared .* object/);
    expect(JSON.parse((await run(['status', '--json'], mirror)).stdout).schema_drift).toMatchObject([
      { field: 'affiliate.badge', kind: 'appeared', found: 'number' },
      { field: 'tier', kind: 'appeared', found: 'object' },
    ]);

    const healed = await run(['sync', 'referrals', '--json'], mirror);
    expect(await driftOf(mirror, healed)).toEqual([]);
    expect((await run(['status', 'drift'], mirror)).stdout).not.toContain('tier');
  });
});

describe('a field of the contract that no record carries any more', () => {
  test('is logged when it vanishes, and its column keeps every value', async () => {
    const mirror = await createTestDatabase();
    await run(['sync'], mirror);
    const read = async () =>
      (
        await mirror.pool.query(
          'select id, visits, customer_name, expires_at, _changed_at from referrals order by id',
        )
      ).rows;
    const before = await read();
    const result = await syncAltered(mirror, (referral) => {
      delete referral['visits'];
      delete referral['expires_at'];
      delete (referral['customer'] as Wire | null)?.['name'];
    });
    expect(result.code, result.stderr).toBe(0);
    expect(await driftOf(mirror, result)).toEqual([
      {
        resource: 'referrals',
        field: 'customer.name',
        kind: 'vanished',
        found: null,
        occurrences: expect.any(Number),
      },
      {
        resource: 'referrals',
        field: 'expires_at',
        kind: 'vanished',
        found: null,
        occurrences: expect.any(Number),
      },
      {
        resource: 'referrals',
        field: 'visits',
        kind: 'vanished',
        found: null,
        occurrences: expect.any(Number),
      },
    ]);
    expect(drifts(result)).toHaveLength(3);
    expect(await read()).toEqual(before);
    expect((await run(['status', 'drift'], mirror)).stdout).toMatch(/visits .* vanished/);
  });
});

describe('a field whose type changed', () => {
  test('is logged when it is new; its records are kept aside with their rows as they were, the others are loaded', async () => {
    const mirror = await createTestDatabase();
    await run(['sync'], mirror);
    const [first, second] = await sandbox.allReferrals();
    const result = await syncAltered(mirror, (referral) => {
      if (referral['id'] === first?.id) referral['visits'] = String(referral['visits']);
      if (referral['id'] === second?.id) referral['visits'] = 4711;
    });
    expect(result.code, result.stderr).toBe(3);
    expect(await driftOf(mirror, result)).toEqual([
      {
        resource: 'referrals',
        field: 'visits',
        kind: 'retyped',
        found: 'string',
        occurrences: expect.any(Number),
      },
    ]);
    expect(drifts(result)).toHaveLength(1);
    const { rows } = await mirror.pool.query(
      'select id, visits, _deleted_at from referrals where id = any($1) order by visits desc',
      [[first?.id, second?.id]],
    );
    expect(rows).toEqual([
      { id: second?.id, visits: 4711, _deleted_at: null },
      { id: first?.id, visits: first?.visits, _deleted_at: null },
    ]);
    const rejected = await mirror.pool.query('select distinct record_id, reason from rejected_records');
    expect(rejected.rows).toEqual([{ record_id: first?.id, reason: expect.stringContaining('visits') }]);
    expect((await run(['status', 'drift'], mirror)).stdout).toMatch(/visits .* retyped .* string/);
  });
});
