// Finance at the command line: batches previewed, applied, repeated, refused; a payout file reconciled.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readDocument } from '../schemas/read-document.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type CliRun, runCli, runCliAlone } from '../support/run-cli.ts';

let database: TestDatabase;
let sandbox: TestSandbox;
let directory: string;
let before = 0;
const taken = new Set<string>();

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await runSandbox(database.pool, { referrals: 600 });
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-commissions-'));
  return () => sandbox.close();
});
beforeEach(() => {
  sandbox.setFaults(NO_FAULTS);
  before = sandbox.requests.at(-1)?.number ?? 0;
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const environment = () => ({
  DATABASE_URL: database.url,
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
});

const commissions = (...args: string[]): Promise<CliRun> => runCli(['commissions', ...args], environment());
const commissionsAlone = (...args: string[]) => runCliAlone(['commissions', ...args], environment());

async function file(name: string, ...lines: string[]): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

async function unpaid(count: number): Promise<{ id: string; amount: number; currency: string }[]> {
  const { rows } = await database.pool.query(
    `select id, amount, currency from sandbox.commissions
     where paid_at is null and voided_at is null and id <> all($1) order by id limit $2`,
    [[...taken], count],
  );
  expect(rows.length).toBe(count);
  for (const { id } of rows) taken.add(id);
  return rows;
}

async function paidAt(id: string): Promise<string | null> {
  return (await sandbox.commission(id)).paid_at;
}

function received(method: 'GET' | 'PUT'): number {
  return sandbox.requests.filter((request) => request.number > before && request.method === method).length;
}

const AT = '2026-10-01T12:00:00Z';

describe('commissions apply', () => {
  test('previews without a PUT, applies with --wait, and changes nothing the second time', async () => {
    const [a, b, c] = await unpaid(3);
    const path = await file(
      'payouts.csv',
      'Commission ID;Action;Paid At;Expected Paid At;Expected Amount;Reason',
      `${a?.id};pay;${AT};unpaid;${a?.amount};October`,
      `${b?.id};unpay;;;;`,
      `${c?.id};pay;${AT};unpaid;${(c?.amount ?? 0) + 1};October`,
    );
    const preview = await commissions('apply', path, '--dry-run', '--json');
    expect(preview.code).toBe(3);
    expect(readDocument('commissions-dry-run', preview.stdout)).toMatchObject({
      dry_run: true,
      rows: [
        { line: 2, commission_id: a?.id, would: 'change', outcome: `mark paid at ${AT}; it is unpaid now` },
        { line: 3, would: 'unchanged' },
        { line: 4, would: 'conflict' },
      ],
    });
    expect(received('PUT')).toBe(0);
    expect(await paidAt(a?.id ?? '')).toBeNull();

    const applied = await commissionsAlone('apply', path, '--wait', '--json');
    expect(applied.code).toBe(3);
    expect(readDocument('commissions-requests', applied.stdout)).toMatchObject({
      counts: { applied: 1, unchanged: 1, conflict: 1 },
      requests: [{ state: 'applied', reason: 'October' }, { state: 'unchanged' }, { state: 'conflict' }],
    });
    expect(received('PUT')).toBe(1);
    expect(await paidAt(a?.id ?? '')).toBe('2026-10-01T12:00:00.000Z');

    before = sandbox.requests.at(-1)?.number ?? 0;
    const again = await commissions('apply', path, '--wait');
    expect(again.code).toBe(3);
    expect(again.stderr).toContain('3 of 3 were asked for before: not queued again');
    expect(again.stderr).toMatch(/line 4: request \d+ asked for this and ended as conflict/);
    expect(received('PUT') + received('GET')).toBe(0);
    const { rows } = await database.pool.query('select count(*) as requests from commission_updates');
    expect(rows).toEqual([{ requests: 3 }]);
  });

  test('warns of a year that is far from now, in the dry run and when it is asked for', async () => {
    const [a, b] = await unpaid(2);
    const path = await file(
      'years.csv',
      'commission_id,action,paid_at',
      `${a?.id},pay,${new Date().toISOString()}`,
      `${b?.id},pay,2206-10-01T12:00:00Z`,
    );
    const warning =
      'dated more than half a year from now, so make sure of the year: line 3 (2206-10-01T12:00:00Z)\n';
    const preview = await commissions('apply', path, '--dry-run');
    expect([preview.code, preview.stderr.split(warning).length]).toEqual([0, 2]);
    const queued = await commissions('apply', path);
    expect([queued.code, queued.stderr.split(warning).length]).toEqual([0, 2]);
  });

  test('asks anew with --again, and says so where a later request undid an earlier one', async () => {
    const [a] = await unpaid(1);
    const id = a?.id ?? '';
    const path = await file('one.csv', 'commission_id,action,paid_at', `${id},pay,${AT}`);
    expect((await commissions('apply', path, '--wait')).code).toBe(0);
    expect((await commissions('unpay', id, '--wait')).code).toBe(0);
    const again = await commissions('apply', path, '--wait');
    expect(again.code).toBe(3);
    expect(again.stderr).toMatch(
      /line 2: request \d+ asked for this and ended as applied, but request \d+ came later/,
    );
    expect(await paidAt(id)).toBeNull();
    expect((await commissions('apply', path, '--wait', '--again')).code).toBe(0);
    expect(await paidAt(id)).toBe('2026-10-01T12:00:00.000Z');
  });

  test('names every bad row and queues nothing, unless --skip-invalid is given', async () => {
    const [a, b] = await unpaid(2);
    const lines = ['commission_id,action,paid_at', `${b?.id},pay,`, '17,pay,today', `${a?.id},pay,${AT}`];
    const path = await file('bad.csv', ...lines);
    const refused = await commissions('apply', path, '--wait');
    expect(refused.code).toBe(2);
    expect(refused.stdout).toBe('');
    expect(refused.stderr).toMatch(/nothing was queued from .*bad\.csv/);
    expect(refused.stderr).toMatch(/line 2: paid_at is blank/);
    expect(refused.stderr).toMatch(/line 3: commission_id "17" is not a UUID/);
    expect(refused.stderr).toMatch(/line 3: paid_at "today" is not a timestamp/);
    expect(received('PUT') + received('GET')).toBe(0);
    const skipped = await commissions('apply', path, '--wait', '--skip-invalid', '--csv');
    expect(skipped.code).toBe(3);
    expect(skipped.stderr).toContain('2 of 3 rows left out');
    expect(skipped.stdout).toContain(`${a?.id},pay,mark paid at 2026-10-01 12:00:00 UTC,applied`);
  });

  test.each([
    ['behind a quoted word', '"M" GmbH'],
    ['that is never closed', '"Smith'],
    ['in a word', '5" disk'],
  ])('queues nothing beside a stray quote %s, also with --skip-invalid', async (_, reason) => {
    const [a, b] = await unpaid(2);
    const path = await file(
      'quotes.csv',
      'commission_id,action,paid_at,reason',
      `${a?.id},pay,${AT},${reason}`,
      `${b?.id},pay,${AT},good`,
    );
    const { code, stdout, stderr } = await commissions('apply', path, '--wait', '--skip-invalid');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/nothing was queued from .*quotes\.csv/);
    expect(stderr).toMatch(/line \d+: (the quotes do not match|a quote was opened)/);
    expect(received('PUT') + received('GET')).toBe(0);
  });

  test('has a line of NDJSON that is no object in the result, like every row that was left out', async () => {
    const [a] = await unpaid(1);
    const cut = '{"commission_id":"17","action":"pay",';
    const path = await file(
      'cut.ndjson',
      cut,
      JSON.stringify({ commission_id: a?.id, action: 'pay', paid_at: AT }),
    );
    const result = join(directory, 'cut-result.csv');
    const skipped = await commissions('apply', path, '--wait', '--skip-invalid', '--result', result);
    expect(skipped.code).toBe(3);
    expect(skipped.stderr).toContain('1 of 2 rows left out');
    const [, left, applied] = (await readFile(result, 'utf8')).trim().split('\r\n');
    expect(left).toContain(',left_out,');
    expect(left?.startsWith(`"${cut.replaceAll('"', '""')}"`)).toBe(true);
    expect(applied).toContain(`${a?.id},pay,${AT},applied`);
  });

  test('reads NDJSON, and says what is wrong with a file that is not there', async () => {
    const [a] = await unpaid(1);
    const path = await file(
      'rows.ndjson',
      JSON.stringify({ commission_id: a?.id, action: 'due', due_at: AT }),
    );
    const queued = await commissions('apply', path);
    expect(queued.code).toBe(0);
    const batch = /1 queued as (\S+)/.exec(queued.stdout)?.[1] ?? '';
    const status = await commissions('status', batch, '--json');
    expect(readDocument('commissions-requests', status.stdout)).toMatchObject({
      counts: { pending: 1 },
      requests: [{ state: 'pending' }],
    });
    const { batches } = readDocument('commissions-batches', (await commissions('status', '--json')).stdout);
    expect(batches[0]).toMatchObject({ batch, requests: 1, states: { pending: 1 }, finished_at: null });
    expect(await commissions('cancel', batch)).toMatchObject({ stdout: '1 cancelled\n', stderr: '' });
    expect(await commissions('cancel', batch)).toMatchObject({
      stdout: '0 cancelled\n',
      stderr: 'none of them waits any more: 1 cancelled\n',
    });
    expect(await commissions('retry', batch)).toMatchObject({
      stdout: '0 will be tried again\n',
      stderr: 'none of them ended as failed: 1 cancelled\n',
    });
    const missing = await commissions('apply', 'nowhere.csv');
    expect([missing.code, missing.stderr]).toEqual([
      2,
      'affiliate-mirror: cannot read nowhere.csv: there is no such file\n',
    ]);
  });
});

test('two processes asked for opposite things at once: the later request wins, and the payment ledger says so', async () => {
  const [a] = await unpaid(1);
  const id = a?.id ?? '';
  for (let round = 0; round < 3; round += 1) {
    const moment = `2026-10-0${round + 1}T00:00:00Z`;
    const runs = await Promise.all([
      commissionsAlone('pay', id, '--at', moment, '--wait'),
      commissionsAlone('unpay', id, '--wait'),
    ]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    const { rows } = await database.pool.query(
      `select action, state, paid_at from commission_updates where commission_id = $1 order by id desc limit 2`,
      [id],
    );
    expect(rows.every(({ state }) => ['applied', 'unchanged'].includes(state))).toBe(true);
    const live = await paidAt(id);
    if (rows[0].action === 'unpay') expect(live).toBeNull();
    else expect(Date.parse(live ?? '')).toBe(Date.parse(moment));
  }
});

test('pay without --at never moves a payment that is there', async () => {
  const [a] = await unpaid(1);
  const id = a?.id ?? '';
  expect((await commissions('pay', id, '--at', AT, '--wait')).code).toBe(0);
  const second = await commissions('pay', id, '--wait');
  expect(second.code).toBe(3);
  expect(second.stdout).toContain('expected it to be unpaid, but it is paid at 2026-10-01T12:00:00Z');
  expect(await paidAt(id)).toBe('2026-10-01T12:00:00.000Z');
});

test('a refused secret ends --wait with 1, and it says that the requests wait, and how they are taken back', async () => {
  const [a] = await unpaid(1);
  const run = await runCli(['commissions', 'unpay', a?.id ?? '', '--wait'], {
    DATABASE_URL: database.url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: 'another',
    API_RATE_LIMIT: 'none',
  });
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(
    /^(\S+-unpay-\S+): 1 pending; what is pending stays queued: the next command with --wait goes on there, and so does a running worker; affiliate-mirror commissions cancel \1 takes back what was not sent yet\naffiliate-mirror: the program refused the API secret/m,
  );
  const status = await commissions('status', a?.id ?? '');
  expect(status.stdout).toMatch(/pending +│ will be tried again: the program refused the API secret/);
  const cancelled = await commissions('cancel', a?.id ?? '', '--json');
  expect(cancelled.code).toBe(0);
  expect(readDocument('commissions-retry-cancel', cancelled.stdout)).toEqual({
    requests: [expect.any(Number)],
    left: [],
  });
});

test('cancel of what was carried out ends with 3, and of what was cancelled already with 0', async () => {
  const [done, waiting] = await unpaid(2);
  expect((await commissions('unpay', done?.id ?? '', '--wait')).code).toBe(0);
  expect(await commissions('cancel', done?.id ?? '')).toMatchObject({
    code: 3,
    stdout: '0 cancelled\n',
    stderr: 'none of them waits any more: 1 unchanged\n',
  });
  await commissions('due', waiting?.id ?? '', '--at', '2027-01-01T00:00:00Z');
  for (const stdout of ['1 cancelled\n', '0 cancelled\n']) {
    expect(await commissions('cancel', waiting?.id ?? '')).toMatchObject({ code: 0, stdout });
  }
});

test('a batch from SQL is found by its name, be that a number or a UUID; one that is also something else is refused', async () => {
  const [one, other] = await unpaid(2);
  const ask = (batch: string, id: string | undefined) =>
    database.pool.query<{ id: number }>(
      `insert into commission_updates (batch_id, commission_id, action, due_at)
       values ($1, $2, 'due', '2027-01-01T00:00:00Z') returning id`,
      [batch, id],
    );
  const uuid = '5f0c2d1e-7b57-4f0c-9d8e-0a1b2c3d4e5f';
  for (const batch of ['202611', uuid]) {
    await ask(batch, one?.id);
    expect(await commissions('status', batch)).toMatchObject({ code: 0, stderr: '1 pending\n' });
    expect(await commissions('cancel', batch)).toMatchObject({ code: 0, stdout: '1 cancelled\n' });
  }
  const { rows } = await ask('x', one?.id);
  const number = String(rows[0]?.id);
  await ask(number, other?.id);
  expect(await commissions('cancel', number)).toMatchObject({
    code: 2,
    stderr: `affiliate-mirror: ${number} is the number of a request, and a batch of other requests has that name too: point at one of them, or at a commission of it\n`,
  });
  expect(await commissions('cancel', other?.id ?? '')).toMatchObject({ code: 0, stdout: '1 cancelled\n' });
  expect(await commissions('cancel', 'x')).toMatchObject({ code: 0, stdout: '1 cancelled\n' });
});

test('retry of what ended badly, and is not tried again, ends with 3', async () => {
  const [id] = await unpaid(1);
  expect((await commissions('pay', id?.id ?? '', '--wait')).code).toBe(0);
  expect((await commissions('pay', id?.id ?? '', '--wait')).code).toBe(3);
  const { rows } = await database.pool.query(
    `select id, state from commission_updates where commission_id = $1 order by id`,
    [id?.id],
  );
  expect(rows.map(({ state }) => state)).toEqual(['applied', 'conflict']);
  expect(await commissions('retry', String(rows[0]?.id))).toMatchObject({ code: 0 });
  for (const args of [[], ['--wait'], ['--json']]) {
    expect(await commissions('retry', String(rows[1]?.id), ...args)).toMatchObject({
      code: 3,
      stderr: 'none of them ended as failed: 1 conflict\n',
    });
  }
});

// A month of its own: what the other tests paid is not looked at.
const JULY = '2026-07-01T12:00:00Z';

test('a payout file is reconciled, and --fix pays what the program lacks, and nothing else', async () => {
  const [match, lacking, other, amount, extra] = await unpaid(5);
  const pay = (id: string | undefined, at: string) =>
    sandbox.put(id ?? '', `paid_at=${encodeURIComponent(at)}`);
  for (const commission of [match, amount]) await pay(commission?.id, JULY);
  await pay(other?.id, '2026-07-03T00:00:00Z');
  expect((await commissions('pay', extra?.id ?? '', '--at', '2026-07-01T18:00:00Z', '--wait')).code).toBe(0);
  const unknown = '00000000-0000-4000-8000-000000000000';
  const path = await file(
    'payouts-july.csv',
    'paid_at,commission_id,amount,currency,payee',
    `${JULY},${match?.id},${match?.amount},${match?.currency},x`,
    `2026-07-02T00:00:00Z,${lacking?.id},${lacking?.amount},${lacking?.currency},x`,
    `2026-07-02T00:00:00Z,${other?.id},${other?.amount},${other?.currency},x`,
    `${JULY},${amount?.id},${(amount?.amount ?? 0) + 5},${amount?.currency},x`,
    `${JULY},${unknown},100,USD,x`,
  );
  before = sandbox.requests.at(-1)?.number ?? 0;
  const report = await commissions('reconcile', path, '--json');
  expect(report.code).toBe(3);
  const { rows, totals } = readDocument('commissions-reconcile', report.stdout);
  expect(rows.map(({ commission_id, finding }: Record<string, string>) => [commission_id, finding])).toEqual([
    [match?.id, 'match'],
    [lacking?.id, 'unpaid_upstream'],
    [other?.id, 'different_time'],
    [amount?.id, 'different_amount'],
    [unknown, 'unknown'],
    [extra?.id, 'not_in_books'],
  ]);
  expect(totals).toContainEqual({
    currency: lacking?.currency,
    finding: 'unpaid_upstream',
    commissions: 1,
    books_paid_minor: lacking?.amount,
    program_paid_minor: 0,
    difference_minor: -(lacking?.amount ?? 0),
  });
  expect(received('PUT')).toBe(0);
  // For those who did not see it end.
  const status = readDocument('status', (await runCli(['status', '--json'], environment())).stdout);
  expect(status.books).toMatchObject({ differing: 5 });
  expect(status.concerns).toContainEqual(expect.objectContaining({ code: 'books_differ' }));

  const fixed = await commissions('reconcile', path, '--fix', '--wait');
  expect(fixed.code).toBe(3);
  expect(fixed.stderr).toContain('2 applied');
  expect(received('PUT')).toBe(2);
  expect(await paidAt(lacking?.id ?? '')).toBe('2026-07-02T00:00:00.000Z');
  expect(await paidAt(other?.id ?? '')).toBe('2026-07-02T00:00:00.000Z');
  expect(await paidAt(extra?.id ?? '')).toBe('2026-07-01T18:00:00.000Z');
});

test('--fix asks once while nobody applies what it asked for, and anew where a payment was taken back since', async () => {
  const [lacking, other] = await unpaid(2);
  const path = await file(
    'payouts-june.csv',
    'commission_id,paid_at',
    `${lacking?.id},2026-06-01T12:00:00Z`,
    `${other?.id},2026-06-01T12:00:00Z`,
  );
  const fix = (...more: string[]) => commissions('reconcile', path, '--fix', ...more);
  expect((await fix()).stdout).toContain('2 queued as');
  expect((await fix()).stderr).toContain('2 of 2 were asked for before: not queued again');
  const waited = await fix('--wait');
  expect(waited.code, waited.stderr).toBe(0);
  expect(waited.stderr).toContain('2 applied');
  expect(received('PUT')).toBe(2);

  for (const round of [1, 2]) {
    await sandbox.put(lacking?.id ?? '', 'paid_at=');
    expect((await fix()).stdout, `round ${round}`).toContain('1 queued as');
    expect((await fix('--wait')).stderr).toContain('1 applied');
    expect(await paidAt(lacking?.id ?? '')).toBe('2026-06-01T12:00:00.000Z');
  }
});

test('--fix does not ask for what another request that waits does already', async () => {
  const [applied, byHand, other] = await unpaid(3);
  const at = '2026-05-01T12:00:00Z';
  const batch = await file(
    'payouts-may.csv',
    'commission_id,action,paid_at,expected_amount',
    `${applied?.id},pay,2026-05-01T14:00:00+02:00,${applied?.amount}`,
  );
  expect((await commissions('apply', batch)).stdout).toContain('1 queued as');
  expect((await commissions('pay', byHand?.id ?? '', '--at', at)).stdout).toContain('1 queued as');
  // What waits last for this one is another payment.
  await commissions('pay', other?.id ?? '', '--at', at);
  await commissions('pay', other?.id ?? '', '--at', '2026-05-02T00:00:00Z');
  const books = await file(
    'books-may.csv',
    'commission_id,paid_at',
    ...[applied, byHand, other].map((one) => `${one?.id},${at}`),
  );
  const fixed = await commissions('reconcile', books, '--fix');
  expect(fixed.stderr).toContain('2 of 3 were asked for before: not queued again');
  expect(fixed.stdout).toContain('1 queued as');
  expect((await commissions('cancel', other?.id ?? '')).code).toBe(0);
  const waited = await commissions('reconcile', books, '--fix', '--wait');
  expect(waited.stderr).toContain('2 of 3 were asked for before: not queued again');
  expect(waited.stderr).toContain('3 applied');
  expect(waited.code).toBe(0);
  expect(received('PUT')).toBe(3);
});

test('tracked commissions are registered once, from identifiers and files', async () => {
  const [a, b] = await unpaid(2);
  const path = await file('ids.csv', 'name,commission_id', `x,${a?.id}`, `y,${b?.id}`);
  expect((await commissions('track', path, a?.id ?? '')).stdout).toBe(
    '2 of 2 commissions were not tracked before\n',
  );
  const again = await commissions('track', b?.id ?? '', '--json');
  expect(readDocument('commissions-track', again.stdout)).toEqual({
    commissions: 1,
    added: 0,
    resumed: 0,
  });
  await database.pool.query('update tracked_commissions set next_poll_at = null where commission_id = $1', [
    b?.id,
  ]);
  expect((await commissions('track', path)).stdout).toBe(
    '0 of 2 commissions were not tracked before\n1 had been gone from the program, and will be asked for again\n',
  );
  const wrong = await commissions('track', 'nothing');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('nothing is neither the identifier of a commission (a UUID) nor a file');
});
