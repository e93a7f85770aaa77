// What a batch says about a row that was asked for before, also where the affiliate program has something else by now,
// and about one whose sale was refunded, at the command line.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { readDocument } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

const database = await createTestDatabase();
const sandbox = await runSandbox(database.pool, { referrals: 400, optionalLists: ['commissions'] });
const directory = await makeDirectory();

const AT = '2026-10-01T12:00:00Z';

function run(...args: string[]): Promise<CliRun> {
  return runCli(args, {
    DATABASE_URL: database.url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
  });
}

const commissions = (...args: string[]) => run('commissions', ...args);

async function file(name: string, ...lines: string[]): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

async function unpaidCommissions(count: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from sandbox.commissions
     where paid_at is null and voided_at is null and id not in (select commission_id from commission_updates)
     order by id limit $1`,
    [count],
  );
  return rows.map(({ id }) => id);
}

async function requestsFor(id: string): Promise<number> {
  const { rows } = await database.pool.query<{ requests: number }>(
    'select count(*) as requests from commission_updates where commission_id = $1',
    [id],
  );
  return rows[0]?.requests ?? 0;
}

test('a key of the user’s own counts as such whatever it begins with: --again does not ask again under it', async () => {
  const [id = ''] = await unpaidCommissions(1);
  const header = 'commission_id,action,paid_at,idempotency_key';
  const path = await file('own-key.csv', header, `${id},pay,${AT},row:4711`);
  expect((await commissions('apply', path, '--wait')).code).toBe(0);
  const again = await commissions('apply', path, '--wait', '--again');
  expect(again.stderr).toContain('1 of 1 was asked for before: not queued again');
  expect(await requestsFor(id)).toBe(1);
  const preview = await commissions('apply', path, '--again', '--dry-run', '--json');
  expect(readDocument('commissions-dry-run', preview.stdout).rows).toMatchObject([
    { would: 'asked_before', outcome: expect.stringContaining('another idempotency_key asks anew') },
  ]);

  const generated = await file('no-key.csv', 'commission_id,action,paid_at', `${id},pay,${AT}`);
  expect((await commissions('apply', generated, '--wait')).code).toBe(0);
  expect((await commissions('apply', generated, '--wait', '--again')).code).toBe(0);
  expect(await requestsFor(id)).toBe(3);
});

test('a key that names another request is a problem of its line, in the dry run and before anything is queued', async () => {
  const [first = '', second = '', third = '', fourth = ''] = await unpaidCommissions(4);
  const header = 'commission_id,action,paid_at,idempotency_key';
  const one = await file('key-one.csv', header, `${first},pay,${AT},OKT-1`);
  expect((await commissions('apply', one)).code).toBe(0);
  const { rows } = await database.pool.query('select id from commission_updates where idempotency_key = $1', [
    'OKT-1',
  ]);
  const other = await file(
    'key-other.csv',
    header,
    `${fourth},pay,never,`,
    `${second},pay,${AT},OKT-1`,
    `${third},pay,${AT},OKT-2`,
  );
  const problem = `line 3: the idempotency_key "OKT-1" is that of request ${rows[0].id} already (pay of commission ${first}): give this row a key of its own, or none`;
  for (const flag of ['--dry-run', '--json']) {
    const refused = await commissions('apply', other, flag);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('line 2: paid_at "never" is not a timestamp');
    expect(refused.stderr).toContain(problem);
  }
  expect(await requestsFor(third)).toBe(0);

  const result = join(directory, 'key-result.csv');
  const skipped = await commissions('apply', other, '--skip-invalid', '--result', result);
  expect(skipped.code).toBe(3);
  expect(skipped.stderr).toContain(problem);
  expect(skipped.stderr).toContain('2 of 3 rows left out');
  expect([await requestsFor(second), await requestsFor(third)]).toEqual([0, 1]);
  expect(await readFile(result, 'utf8')).toMatch(/,OKT-1,left_out,"the idempotency_key ""OKT-1"" is that of/);

  // The same request under its key is none, whatever its spelling and its reason.
  const same = await file(
    'key-same.csv',
    `${header},reason`,
    `${first.toUpperCase()},Pay,2026-10-01T14:00:00+02:00,OKT-1,once more`,
  );
  const again = await commissions('apply', same, '--dry-run');
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('asked_before')]);
});

test('--even-if-refunded asks anew only for what the refund held back, and what it paid is not asked for again', async () => {
  const [refunded = '', one = '', two = ''] = await unpaidCommissions(3);
  await database.pool.query(
    `update sandbox.sales set refund_amount_cents = charge_amount_cents, sale_amount_cents = 0
     where id = (select sale_id from sandbox.commissions where id = $1)`,
    [refunded],
  );
  const rows = [refunded, one, two].map((id) => `${id},pay,${AT},unpaid`);
  const path = await file('rf.csv', 'commission_id,action,paid_at,expected_paid_at', ...rows);
  // Queued and not applied yet: the flag makes no second request of what waits.
  const before = [await commissions('apply', path), await commissions('apply', path, '--even-if-refunded')];
  expect(before.map(({ code }) => code)).toEqual([0, 0]);
  expect(await requestsFor(refunded)).toBe(1);
  expect((await commissions('apply', path, '--wait')).stderr).toContain('2 applied, 1 conflict');

  const preview = await commissions('apply', path, '--even-if-refunded', '--dry-run', '--json');
  expect(preview.code, preview.stderr).toBe(0);
  const would = ['change', 'asked_before', 'asked_before'].map((word) => ({ would: word }));
  expect(readDocument('commissions-dry-run', preview.stdout).rows).toMatchObject(would);
  const forced = await commissions('apply', path, '--even-if-refunded', '--wait');
  expect(forced.code, forced.stdout).toBe(0);
  expect(forced.stderr).toContain('2 of 3 were asked for before');
  expect((await sandbox.commission(refunded)).paid_at).toBe('2026-10-01T12:00:00.000Z');

  // Without the flag, it is the same payment from now on.
  const again = await commissions('apply', path, '--wait');
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain('3 of 3 were asked for before');
  expect(await Promise.all([refunded, one, two].map(requestsFor))).toEqual([2, 1, 1]);
});

test('--again run once more takes what waits since the first time, unless a later request undoes it', async () => {
  const [first = '', second = ''] = await unpaidCommissions(2);
  const header = 'commission_id,action,paid_at,expected_paid_at';
  const path = await file('twice.csv', header, `${first},pay,${AT},unpaid`, `${second},pay,${AT},unpaid`);
  const ask = async () => (await commissions('apply', path, '--again')).stderr;
  expect(await ask()).toContain('a running worker applies them');
  expect(await ask()).toContain('2 of 2 were asked for before: not queued again');
  expect([await requestsFor(first), await requestsFor(second)]).toEqual([1, 1]);

  await commissions('unpay', second);
  expect(await ask()).toContain('1 of 2 was asked for before: not queued again');
  expect([await requestsFor(first), await requestsFor(second)]).toEqual([1, 3]);
  const { code, stdout } = await commissions('apply', path, '--again', '--wait', '--json');
  expect(readDocument('commissions-requests', stdout)['counts']).toEqual({ applied: 2 });
  expect(code).toBe(0);
});

function payoutFile(id: string, action = 'pay', column = 'paid_at'): Promise<string> {
  return file(`${action}-${id}.csv`, `commission_id,action,${column}`, `${id},${action},${AT}`);
}

/** Applies the file with the flags; returns its only row's result by column, with the run. */
async function applyAgain(path: string, ...flags: string[]) {
  const result = `${path}.result.csv`;
  const applied = await commissions('apply', path, ...flags, '--result', result);
  const rows: Record<string, string>[] = parse(await readFile(result), { bom: true, columns: true });
  return { ...applied, row: rows[0] ?? {} };
}

test('a payment that somebody took back in the program is no longer in the result, and the exit code says so', async () => {
  const [id = ''] = await unpaidCommissions(1);
  const path = await payoutFile(id);
  expect((await commissions('apply', path, '--wait')).code).toBe(0);
  expect((await sandbox.put(id, 'paid_at=')).status).toBe(200);

  // Nobody has read it since: the mirror has the payment still.
  const unseen = await applyAgain(path, '--dry-run');
  expect([unseen.code, unseen.row['result_paid_at']]).toEqual([0, AT]);

  expect((await run('sync', 'commissions')).code).toBe(0);
  const since = /since then it was taken back: the affiliate program had it unpaid at 2\S+Z/;
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
  const waited = await commissions('apply', path, '--wait', '--json');
  expect(readDocument('commissions-requests', waited.stdout).requests).toMatchObject([
    { state: 'applied', paid_at_after: AT, note: expect.stringMatching(since) },
  ]);
  expect((await sandbox.commission(id)).paid_at).toBeNull();

  // What --again asks for is this command's own: it has nothing to be reported.
  const anew = await applyAgain(path, '--again', '--wait');
  expect([anew.code, anew.row['result_paid_at']]).toEqual([0, AT]);
  expect(anew.row['result_outcome']).toBe(`marked paid at ${AT}`);
});

test('of a payment that a later request took back, the old file names both and the value of now', async () => {
  const [id = '', other = ''] = await unpaidCommissions(2);
  const header = 'commission_id,action,paid_at';
  const path = await file('old.csv', header, `${id},pay,2026-11-27`, `${other},pay,2026-11-27`);
  const inBerlin = ['apply', path, '--timezone', 'Europe/Berlin'];
  expect((await commissions(...inBerlin, '--wait')).code).toBe(0);
  expect((await commissions('unpay', id, '--wait')).code).toBe(0);
  const { rows } = await database.pool.query<{ request: number }>(
    'select id as request from commission_updates where commission_id = $1 order by id',
    [id],
  );
  const [paid, back] = rows.map(({ request }) => request);
  const words = `paid by request ${paid}, taken back by ${back}, unpaid now`;

  const dry = await commissions(...inBerlin, '--dry-run');
  const again = await commissions(...inBerlin, '--wait');
  expect([dry.code, again.code]).toEqual([3, 3]);
  for (const { stderr } of [dry, again]) expect(stderr).toContain(`line 2: ${words}: --again asks anew`);
  const name = await nameOfAffiliate(id);
  expect(dry.stdout).toMatch(new RegExp(`│ 2 +│ ${id} │ ${name} +│ .* │ asked_before │ ${words}: `));
  expect(again.stdout).toMatch(
    new RegExp(`│ 2 +│ ${paid} +│ ${id} │ ${name} +│ .* │ overtaken +│ ${words} `),
  );
  expect(again.stdout).toMatch(/mark paid at 2026-11-27 00:00 \+01:00 │ applied before │/);
  expect(again.stderr).toMatch(/^0 sent now; 1 overtaken, 1 applied before$/m);
  const { requests, sent_now } = readDocument(
    'commissions-requests',
    (await commissions(...inBerlin, '--wait', '--json')).stdout,
  );
  expect([sent_now, requests[0]]).toMatchObject([
    0,
    { line: 2, request: paid, state: 'applied', ended_before: true, overtaken_by: back },
  ]);
  // As books, the result of the old file asks for no payment of what was taken back.
  const result = join(directory, 'old-result.csv');
  const queued = await commissions(...inBerlin, '--result', result);
  expect(queued.stderr).toMatch(/^nothing was queued; 1 overtaken, 1 applied before$/m);
  expect(await readFile(result, 'utf8')).toMatch(
    new RegExp(
      `,overtaken,"${words}",,,.*\r\n.*,applied,applied before: marked paid at 2026-11-27 00:00 \\+01:00,2026-11-26T23:00:00Z,2026-11-27 00:00 \\+01:00,`,
    ),
  );
  expect((await commissions('reconcile', result, '--timezone', 'Europe/Berlin')).code).toBe(0);
  // One that waits takes nothing back yet.
  await commissions('unpay', other);
  expect((await commissions(...inBerlin, '--dry-run')).stderr).toMatch(
    /line 3: paid by request \d+, paid at 2026-11-27 00:00 \+01:00 now; request \d+ \(unpay\) waits: --again/,
  );
});

async function nameOfAffiliate(commission: string): Promise<string> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select concat_ws(' ', first_name, last_name) as name from sandbox.affiliates
     where id = (select affiliate_id from sandbox.sales
                 where id = (select sale_id from sandbox.commissions where id = $1))`,
    [commission],
  );
  return rows[0]?.name ?? 'none';
}

test('a row says also what else became of it: another payment date, another due date, a deletion', async () => {
  const [moved = ''] = await unpaidCommissions(1);
  const pay = await payoutFile(moved);
  expect((await commissions('apply', pay, '--wait')).code).toBe(0);
  const [dated = ''] = await unpaidCommissions(1);
  const due = await payoutFile(dated, 'due', 'due_at');
  expect((await commissions('apply', due, '--wait')).code).toBe(0);
  await sandbox.put(moved, 'paid_at=2026-11-01T00:00:00Z');
  await sandbox.put(dated, 'due_at=2026-12-01T00:00:00Z');
  expect((await run('sync', 'commissions')).code).toBe(0);
  const words = [
    /since then it was changed: at 2\S+Z the affiliate program had it paid at 2026-11-01T00:00:00Z/,
    /since then it was changed: at 2\S+Z the affiliate program had it payable from 2026-12-01T00:00:00Z/,
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
    expect.stringMatching(/since then it was deleted: the affiliate program did not have it any more at 2/),
  ]);
});

test('of a row whose request never read the commission, the result is what the mirror has', async () => {
  const [id = ''] = await unpaidCommissions(1);
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
  expect((await commissions('cancel', id)).code).toBe(0);
  for (const [flag, state] of [
    ['--dry-run', 'asked_before'],
    ['--wait', 'cancelled'],
  ] as const) {
    const again = await applyAgain(path, flag);
    expect([again.code, again.row]).toEqual([3, expect.objectContaining({ ...known, result_state: state })]);
  }
});
