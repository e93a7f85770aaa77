// Personal data from the command line: a mirror that is made with hashes, a process that is set otherwise, switching,
// and the receipt of a person who is forgotten.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readDocument } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { runCli } from '../support/run-cli.ts';

const directory = await makeDirectory();
await writeFile(join(directory, 'key'), Buffer.alloc(32, 'first'));
await writeFile(join(directory, 'other'), Buffer.alloc(32, 'second'));
await writeFile(join(directory, 'short'), 'too short');
const mirror = await createTestDatabase();
const program = await createTestDatabase();
const sandbox = await runSandbox(program.pool, {
  affiliates: 8,
  referrals: 60,
  optionalLists: ['commissions'],
});
afterAll(async () => {
  await sandbox.close();
});

async function run(line: string, more: Readonly<Record<string, string>>) {
  const environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
    LOG_LEVEL: 'error',
    ...more,
  };
  const { code, stdout, stderr } = await runCli(line.split(' '), environment);
  return { code, stdout, stderr };
}

const key = (name: string) => ({ PII: 'hash', PII_KEY_FILE: join(directory, name) });

test('a mirror that is made with PII=hash stores hashes, and finance still pays', async () => {
  // The migrations are there, and nothing is stored: the mode is taken over.
  expect((await run('sync --migrate', key('key'))).code).toBe(0);
  const { rows } = await mirror.pool.query<{ id: string; email: string; commission: string }>(
    `select affiliate_id as id, affiliate_email as email, commission_id as commission from unpaid_commissions
     where is_payable and has_payout_address limit 1`,
  );
  const [payable] = rows;
  expect(payable?.email).toMatch(/^hmac:/);
  const { data } = await sandbox.affiliates('?limit=100');
  const email = data.find(({ id }) => id === payable?.id)?.email;
  const listed = await run(`commissions payable --format csv --affiliate ${email}`, key('key'));
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n${payable?.id},`) });
  expect(`${listed.stdout}${listed.stderr}`).not.toMatch(/hmac:/);
  const paid = await run('commissions paid --from 2000-01-01 --to 2100-01-01', key('key'));
  expect(paid).toMatchObject({ code: 0, stdout: expect.stringMatching(/│ [0-9a-f-]{36} │ – +│ [A-Z]{3} /) });
  expect(paid.stdout).not.toMatch(/hmac:/);
  const dry = await run(`commissions pay ${payable?.commission} --dry-run`, key('key'));
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('change') });
  expect(dry.stdout).not.toMatch(/hmac:|affiliate/);
});

test('migrate notes the mode of a new mirror as well, and a sync goes by it', async () => {
  const { pool, url } = await createTestDatabase();
  const more = { ...key('key'), DATABASE_URL: url };
  expect((await run('migrate', more)).code).toBe(0);
  expect((await run('sync affiliates', more)).code).toBe(0);
  const { rows } = await pool.query(`select from affiliates where email like 'hmac:%'`);
  expect(rows).toHaveLength(8);
});

test.each([
  ['another mode', { PII: 'plain' }, 'this mirror keeps personal data as hash, and PII is plain here'],
  [
    'another key',
    { PII: 'hash', PII_KEY_FILE: 'other' },
    "the key in PII_KEY_FILE is not the one that this mirror's",
  ],
  ['a short key', { PII: 'hash', PII_KEY_FILE: 'short' }, 'holds 9 bytes: a key needs at least 32'],
])('with %s, sync and payments stop with one line, before anything is sent', async (_, settings, message) => {
  const sent = sandbox.requests.length;
  const { PII_KEY_FILE: named }: Record<string, string> = settings;
  const more = { ...settings, ...(named && { PII_KEY_FILE: join(directory, named) }) };
  const id = '00000000-0000-4000-8000-000000000001';
  for (const line of ['sync', `commissions pay ${id} --wait`]) {
    const { code, stdout, stderr } = await run(line, more);
    expect(stderr).toContain(message);
    expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({
      code: 2,
      stdout: '',
      lines: 1,
    });
  }
  expect(sandbox.requests.length).toBe(sent);
  if (named === 'other') {
    // doctor looks on, and says the same.
    expect((await run('doctor', more)).stdout).toContain(message);
  }
});

test('a person is forgotten with a receipt, and the mirror is switched', async () => {
  const { data } = await sandbox.affiliates('?limit=1');
  const [person] = data;
  const forgotten = await run(`forget ${person?.email} --json`, key('key'));
  expect(forgotten.code).toBe(0);
  const receipt = readDocument('forget', forgotten.stdout);
  // Their old versions are in no file any more.
  const readVacuums = async () => {
    const { rows } = await mirror.pool.query<{ vacuums: number }>(
      `select vacuum_count::int as vacuums from pg_stat_user_tables where relid = 'mirror.affiliates'::regclass`,
    );
    return rows[0]?.vacuums;
  };
  await expect.poll(readVacuums).toBeGreaterThan(0);
  expect(receipt).toMatchObject({
    number: 1,
    is_found: true,
    kept_out: { affiliates: 1 },
    not_rewritten: [],
  });
  expect(receipt.rewritten).toContainEqual({ table: 'affiliates', rows: 1 });
  const vacuumed = await readVacuums();
  const again = await run(`forget ${person?.id}`, key('key'));
  // An earlier one may have been stopped before it.
  await expect.poll(readVacuums).toBeGreaterThan(vacuumed ?? 0);
  expect(again.stdout).toContain('person 1, forgotten since');
  expect(again.stdout).toContain('nothing was left');
  expect(again.stdout).not.toContain('nobody');

  const switched = await run('personal-data switch', { PII: 'omit' });
  expect(switched.stderr).toMatch(
    /^forgotten people are known by their records alone from now on, .* forget/,
  );
  expect(switched.stdout).toMatch(/^the mirror keeps personal data as omit from now on:$/m);
  const { rows } = await mirror.pool.query('select count(email) as addresses from affiliates');
  expect(rows).toEqual([{ addresses: 0 }]);
  expect((await run('sync', { PII: 'omit' })).code).toBe(0);
  expect((await run('personal-data switch', { PII: 'omit' })).stdout).toContain('as omit already');
});

test('an address that nobody has is kept out, and the receipt says that it found nobody', async () => {
  const { stdout } = await run('forget nobody@example.com', { PII: 'omit' });
  expect(stdout).toMatch(
    /^no record of the mirror has this address, which is kept out from now on: if it is misspelt/,
  );
  expect(stdout).toMatch(/^kept out from now on: affiliates 0, referrals 0, links 0, addresses 1$/m);
  const again = await run('forget nobody@example.com --json', { PII: 'omit' });
  expect(readDocument('forget', again.stdout)).toMatchObject({ number: 2, is_found: false, rewritten: [] });
});

test('a role that does not own the tables is refused with one line', async () => {
  await mirror.pool.query(`
    drop role if exists pii_worker; create role pii_worker login password 'p';
    grant usage on schema mirror to pii_worker;
    grant select, insert, update, delete on all tables in schema mirror to pii_worker`);
  try {
    const url = new URL(mirror.url);
    url.username = 'pii_worker';
    url.password = 'p';
    for (const [line, PII] of [
      ['forget nobody@example.com', 'plain'],
      ['personal-data switch', 'omit'],
      ['personal-data switch', 'plain'],
    ] as const) {
      const { code, stderr } = await run(line, { PII, DATABASE_URL: url.href });
      expect(stderr.trim()).toMatch(/^affiliate-mirror: only the owner of the tables can rewrite them: .*$/);
      expect(code).toBe(1);
    }
  } finally {
    await mirror.pool.query('drop owned by pii_worker; drop role pii_worker');
  }
});
