// What a batch says about a row that was asked for before where the program has something else by now.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readDocument } from '../schemas/read-document.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

let database: TestDatabase;
let sandbox: TestSandbox;
let directory: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await runSandbox(database.pool, { referrals: 200, optionalLists: ['commissions'] });
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-since-'));
  return () => sandbox.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const AT = '2026-10-10T00:00:00Z';

function run(...args: string[]): Promise<CliRun> {
  return runCli(args, {
    DATABASE_URL: database.url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
  });
}

async function unpaidCommission(): Promise<string> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from sandbox.commissions
     where paid_at is null and voided_at is null and id not in (select commission_id from commission_updates)
     order by id limit 1`,
  );
  return rows[0]?.id ?? '';
}

async function payoutFile(id: string, action = 'pay', column = 'paid_at', value = AT): Promise<string> {
  const path = join(directory, `${action}-${id}.csv`);
  await writeFile(path, `commission_id,action,${column}\n${id},${action},${value}\n`);
  return path;
}

/** Applies the file with the flags; returns its only row's result by column, with the run. */
async function applyAgain(path: string, ...flags: string[]) {
  const result = `${path}.result.csv`;
  const applied = await run('commissions', 'apply', path, ...flags, '--result', result);
  const rows: Record<string, string>[] = parse(await readFile(result), { bom: true, columns: true });
  return { ...applied, row: rows[0] ?? {} };
}

test('a payment that somebody took back in the program is no longer in the result, and the exit code says so', async () => {
  const id = await unpaidCommission();
  const path = await payoutFile(id);
  expect((await run('commissions', 'apply', path, '--wait')).code).toBe(0);
  expect((await sandbox.put(id, 'paid_at=')).status).toBe(200);

  // Nobody has read it since: the mirror has the payment still.
  const unseen = await applyAgain(path, '--dry-run');
  expect([unseen.code, unseen.row['result_paid_at']]).toEqual([0, AT]);

  expect((await run('sync', 'commissions')).code).toBe(0);
  const since = /since then it was taken back: the program had it unpaid at 2\S+Z/;
  const wanted: [string[], string][] = [
    [['--dry-run'], 'asked_before'],
    [['--wait'], 'applied'],
    [[], 'applied'],
  ];
  for (const [flags, state] of wanted) {
    const again = await applyAgain(path, ...flags);
    expect(again.row).toMatchObject({
      result_state: state,
      result_outcome: expect.stringMatching(since),
      result_paid_at: '',
      result_currency: expect.stringMatching(/^[A-Z]{3}$/),
    });
    expect(again.row['result_amount_minor']).toMatch(/^\d+$/);
    expect(again.stderr).toMatch(
      /line 2: request \d+ asked for this and ended as applied; since then it was/,
    );
    expect(again.stderr).toContain('--again asks anew');
    expect(again.code).toBe(3);
  }
  const waited = await run('commissions', 'apply', path, '--wait', '--json');
  expect(readDocument('commissions-requests', waited.stdout).requests).toMatchObject([
    { state: 'applied', paid_at_after: AT, note: expect.stringMatching(since) },
  ]);
  expect((await run('commissions', 'apply', path)).code).toBe(3);
  expect((await sandbox.commission(id)).paid_at).toBeNull();

  // What --again asks for is this command's own: it has nothing to be reported.
  const anew = await applyAgain(path, '--again', '--wait');
  expect([anew.code, anew.row['result_paid_at']]).toEqual([0, AT]);
  expect(anew.row['result_outcome']).toBe(`marked paid at ${AT}`);
});

test('a payment that was taken back through here is no longer in the result either', async () => {
  const id = await unpaidCommission();
  const path = await payoutFile(id);
  expect((await run('commissions', 'apply', path, '--wait')).code).toBe(0);
  expect((await run('commissions', 'unpay', id, '--wait')).code).toBe(0);
  for (const flag of ['--dry-run', '--wait']) {
    const again = await applyAgain(path, flag);
    expect([again.code, again.row['result_paid_at']]).toEqual([3, '']);
    expect(again.row['result_outcome']).toContain('since then it was taken back');
    // One line for a row, whatever there is to say of it.
    expect(again.stderr.match(/line 2: /g)).toHaveLength(1);
  }
});

test('a row says also what else became of it: another payment date, another due date, a deletion', async () => {
  const moved = await unpaidCommission();
  const pay = await payoutFile(moved);
  expect((await run('commissions', 'apply', pay, '--wait')).code).toBe(0);
  const dated = await unpaidCommission();
  const due = await payoutFile(dated, 'due', 'due_at');
  expect((await run('commissions', 'apply', due, '--wait')).code).toBe(0);
  await sandbox.put(moved, 'paid_at=2026-11-01T00:00:00Z');
  await sandbox.put(dated, 'due_at=2026-12-01T00:00:00Z');
  expect((await run('sync', 'commissions')).code).toBe(0);
  const words = [
    /since then it was changed: at 2\S+Z the program had it paid at 2026-11-01T00:00:00Z/,
    /since then it was changed: at 2\S+Z the program had it payable from 2026-12-01T00:00:00Z/,
  ];
  for (const [index, path] of [pay, due].entries()) {
    const again = await applyAgain(path, '--dry-run');
    expect([again.code, again.row['result_outcome']]).toEqual([
      3,
      expect.stringMatching(words[index] ?? /$^/),
    ]);
    expect(again.row['result_paid_at']).toBe(index === 0 ? '2026-11-01T00:00:00Z' : '');
  }
  await database.pool.query('update commissions set _deleted_at = clock_timestamp() where id = $1', [moved]);
  const gone = await applyAgain(pay, '--dry-run');
  expect(gone.row).toMatchObject({ result_paid_at: '', result_amount_minor: '', result_currency: '' });
  expect([gone.code, gone.row['result_outcome']]).toEqual([
    3,
    expect.stringMatching(/since then it was deleted: the program did not have it any more at 2/),
  ]);
});

test('where the mirror could not take over a payment, the result is what the payment ledger has', async () => {
  const id = await unpaidCommission();
  const path = await payoutFile(id);
  expect((await run('commissions', 'apply', path, '--wait')).code).toBe(0);
  // As it was before the payment.
  await database.pool.query(
    `update commissions set paid_at = null, _observed_at = _observed_at - interval '1 hour' where id = $1`,
    [id],
  );
  const again = await applyAgain(path, '--dry-run');
  expect([again.code, again.row['result_paid_at']]).toEqual([0, AT]);
  await database.pool.query('delete from commissions where id = $1', [id]);
  const unknown = await applyAgain(path, '--wait');
  expect([unknown.code, unknown.row['result_paid_at']]).toEqual([0, AT]);
});

test('of a row whose request never read the commission, the result is what the mirror has', async () => {
  const id = await unpaidCommission();
  expect((await sandbox.put(id, 'paid_at=2026-09-01T00:00:00Z')).status).toBe(200);
  expect((await run('sync', 'commissions')).code).toBe(0);
  const path = await payoutFile(id);
  const known = {
    result_paid_at: '2026-09-01T00:00:00Z',
    result_currency: expect.stringMatching(/^[A-Z]{3}$/),
  };
  const queued = await applyAgain(path);
  expect([queued.code, queued.row]).toEqual([
    0,
    expect.objectContaining({ ...known, result_state: 'pending' }),
  ]);
  expect((await run('commissions', 'cancel', id)).code).toBe(0);
  for (const [flag, state] of [
    ['--dry-run', 'asked_before'],
    ['--wait', 'cancelled'],
  ] as const) {
    const again = await applyAgain(path, flag);
    expect([again.code, again.row]).toEqual([3, expect.objectContaining({ ...known, result_state: state })]);
  }
});

test('a commission that is made payable and paid by one file is paid in both of its rows', async () => {
  const id = await unpaidCommission();
  const path = join(directory, `both-${id}.csv`);
  await writeFile(path, `commission_id,action,paid_at,due_at\n${id},due,,${AT}\n${id},pay,${AT},\n`);
  for (const flag of ['--wait', '--dry-run']) {
    const { code, row } = await applyAgain(path, flag);
    expect([code, row['action'], row['result_paid_at']]).toEqual([0, 'due', AT]);
  }
});
