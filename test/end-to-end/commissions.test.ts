// Finance at the command line: batches followed, cancelled, retried; a payout file reconciled.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { readDocument } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

let before = 0;
const taken = new Set<string>();

const database = await createTestDatabase();
const sandbox = await runSandbox(database.pool, { referrals: 600 });
const directory = await makeDirectory();
beforeEach(() => {
  sandbox.setFaults(NO_FAULTS);
  before = sandbox.requests.at(-1)?.number ?? 0;
});

const environment = () => ({
  DATABASE_URL: database.url,
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
});

const commissions = (...args: string[]): Promise<CliRun> => runCli(['commissions', ...args], environment());

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

test('a queued batch is found by its name and cancelled once, and one from SQL as well', async () => {
  const [a, b, c] = await unpaid(3);
  const path = await file('rows.csv', 'commission_id,action,due_at', `${a?.id},due,${AT}`);
  const batch = /1 queued as (\S+)/.exec((await commissions('apply', path)).stdout)?.[1] ?? '';
  const status = await commissions('status', batch, '--json');
  expect(readDocument('commissions-requests', status.stdout)).toMatchObject({
    counts: { pending: 1 },
    requests: [{ state: 'pending' }],
  });
  const { batches } = readDocument('commissions-batches', (await commissions('status', '--json')).stdout);
  expect(batches[0]).toMatchObject({ batch, requests: 1, states: { pending: 1 }, finished_at: null });
  const done = '1 cancelled';
  expect(await commissions('cancel', batch)).toMatchObject({ code: 0, stdout: `${done}\n`, stderr: '' });
  expect(await commissions('cancel', batch)).toMatchObject({
    code: 0,
    stdout: '0 cancelled\n',
    stderr: `none of them waits any more: ${done}\n`,
  });
  const retried = { stdout: '0 will be tried again\n', stderr: `none of them ended as failed: ${done}\n` };
  expect(await commissions('retry', batch)).toMatchObject(retried);

  // Names that look like the number of a request, and the identifier of a commission.
  for (const [name, one] of [
    ['202611', b],
    ['5f0c2d1e-7b57-4f0c-9d8e-0a1b2c3d4e5f', c],
  ] as const) {
    await database.pool.query(
      `insert into commission_updates (batch_id, commission_id, action, due_at) values ($1, $2, 'due', now())`,
      [name, one?.id],
    );
    expect(await commissions('status', name)).toMatchObject({ code: 0, stderr: '1 pending\n' });
    expect(await commissions('cancel', name)).toMatchObject({ code: 0, stdout: '1 cancelled\n' });
  }
});

test('pay without --at never moves a payment that is there; what ended badly is neither retried nor cancelled', async () => {
  const [a] = await unpaid(1);
  const id = a?.id ?? '';
  expect((await commissions('pay', id, '--at', AT, '--wait')).code).toBe(0);
  const second = await commissions('pay', id, '--wait');
  expect(second.code).toBe(3);
  expect(second.stdout).toContain('expected it to be unpaid, but it is paid at 2026-10-01T12:00:00Z');
  expect(await paidAt(id)).toBe('2026-10-01T12:00:00.000Z');
  const { rows } = await database.pool.query(
    'select id::text, state from commission_updates where commission_id = $1 order by id',
    [id],
  );
  expect(rows.map(({ state }) => state)).toEqual(['applied', 'conflict']);
  expect(await commissions('retry', rows[0]?.id)).toMatchObject({ code: 0 });
  for (const args of [[], ['--wait']]) {
    expect(await commissions('retry', rows[1]?.id, ...args)).toMatchObject({
      code: 3,
      stderr: 'none of them ended as failed: 1 conflict\n',
    });
  }
  expect(await commissions('cancel', rows[0]?.id)).toMatchObject({
    code: 3,
    stdout: '0 cancelled\n',
    stderr: 'none of them waits any more: 1 applied\n',
  });
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
    /^(\S+-unpay-\S+): 1 pending; those pending stay queued: the next command with --wait goes on there, and so does a running worker; affiliate-mirror commissions cancel \1 takes back those that were not sent yet\naffiliate-mirror: the API refused the secret/m,
  );
  const status = await commissions('status', a?.id ?? '');
  expect(status.stdout).toMatch(/pending +│ will be tried again: the API refused the secret/);
  expect(await commissions('cancel', a?.id ?? '')).toMatchObject({ code: 0, stdout: '1 cancelled\n' });
});

// A month of its own: what the other tests paid is not looked at.
const JULY = '2026-07-01T12:00:00Z';

test('a payout file is reconciled, and --fix pays what the program lacks, once, and nothing else', async () => {
  const [match, lacking, other, amount, extra, waiting] = await unpaid(6);
  const pay = (id: string | undefined, at: string) =>
    sandbox.put(id ?? '', `paid_at=${encodeURIComponent(at)}`);
  for (const commission of [match, amount]) await pay(commission?.id, JULY);
  await pay(other?.id, '2026-07-03T00:00:00Z');
  expect((await commissions('pay', extra?.id ?? '', '--at', '2026-07-01T18:00:00Z', '--wait')).code).toBe(0);
  const unknown = '00000000-0000-4000-8000-000000000000';
  const of = (one: typeof match, at: string, more = 0) =>
    `${at},${one?.id},${(one?.amount ?? 0) + more},${one?.currency},x`;
  const path = await file(
    'payouts-july.csv',
    'paid_at,commission_id,amount,currency,payee',
    of(match, JULY),
    of(lacking, '2026-07-02T00:00:00Z'),
    of(other, '2026-07-02T00:00:00Z'),
    of(amount, JULY, 5),
    `${JULY},${unknown},100,USD,x`,
    of(waiting, JULY),
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
    [waiting?.id, 'unpaid_upstream'],
    [extra?.id, 'not_in_books'],
  ]);
  expect(totals).toContainEqual(
    expect.objectContaining({ finding: 'unpaid_upstream', program_paid_minor: 0 }),
  );
  expect(received('PUT')).toBe(0);
  // Operations hear of it only with --note.
  const booksNow = async () =>
    readDocument('status', (await runCli(['status', '--json'], environment())).stdout).books;
  expect(await booksNow()).toMatchObject({ compared_at: null, differing: 0 });
  expect((await commissions('reconcile', path, '--note')).code).toBe(3);
  expect(await booksNow()).toMatchObject({ differing: 6 });
  const accept = await commissions('reconcile', '--accept', unknown, '--reason', 'a test of the provider');
  expect([accept.code, accept.stderr]).toEqual([0, '1 difference accepted\n']);
  expect(await booksNow()).toMatchObject({ differing: 5 });
  const again = await commissions('reconcile', path);
  expect(again.stderr).toContain('7 commissions compared: 5 differ, and 1 more in a way that was accepted\n');
  expect(again.stdout).toMatch(new RegExp(`│ ${unknown} │ unknown .*│ a test of the provider │`));

  // A file that has less ends nothing; a payment that the books lack does, once it was taken back.
  const less = await file(
    'less.csv',
    'paid_at,commission_id,currency',
    `${JULY},${amount?.id},${amount?.currency}`,
  );
  const lesser = await commissions('reconcile', less, '--note');
  expect([lesser.code, lesser.stderr]).toEqual([
    0,
    expect.stringMatching(/^5 noted differences stay open, since what differed was not compared: /m),
  ]);
  expect(await booksNow()).toMatchObject({ differing: 5 });
  await pay(extra?.id, '');
  await database.pool.query('update commissions set paid_at = null where id = $1', [extra?.id]);
  expect((await commissions('reconcile', path, '--note')).code).toBe(3);
  expect(await booksNow()).toMatchObject({ differing: 4 });
  await pay(extra?.id, '2026-07-01T18:00:00Z');
  before = sandbox.requests.at(-1)?.number ?? 0;

  // What waits for one of them already, as another asked for it, is not asked for again; nor is what --fix asked for.
  expect((await commissions('pay', waiting?.id ?? '', '--at', JULY)).stdout).toContain('1 queued as');
  const fix = (...more: string[]) => commissions('reconcile', path, '--fix', ...more);
  const first = await fix();
  expect(first.stdout).toContain('2 queued as');
  expect(first.stderr).toContain('1 of 3 was asked for before: not queued again');
  expect((await fix()).stderr).toContain('3 of 3 were asked for before: not queued again');
  const fixed = await fix('--wait');
  expect(fixed.code).toBe(3);
  expect(fixed.stderr).toContain('3 applied');
  expect(received('PUT')).toBe(3);
  for (const one of [lacking, other]) expect(await paidAt(one?.id ?? '')).toBe('2026-07-02T00:00:00.000Z');
  expect(await paidAt(extra?.id ?? '')).toBe('2026-07-01T18:00:00.000Z');

  // A payment that was taken back since is another one.
  await sandbox.put(lacking?.id ?? '', 'paid_at=');
  expect((await fix()).stdout).toContain('1 queued as');
  expect((await fix('--wait')).stderr).toContain('1 applied');
  expect(await paidAt(lacking?.id ?? '')).toBe('2026-07-02T00:00:00.000Z');
});

test('where the books name no amounts that is said, and nothing is called a match for money', async () => {
  const [paid] = await unpaid(1);
  const august = '2026-08-01T00:00:00Z';
  await sandbox.put(paid?.id ?? '', `paid_at=${august}`);
  const path = await file('bare.csv', 'commission_id,paid_at,Betrag', `${paid?.id},${august},999`);
  const { code, stdout, stderr } = await commissions('reconcile', path, '--json');
  expect([code, stderr.split('\n').slice(-3)]).toEqual([
    0,
    [
      '1 commission compared: 0 differ',
      'no amount was compared of 1 commission: the file has none there. If a column has it, give --map amount=NAME',
      '',
    ],
  ]);
  const { rows, totals } = readDocument('commissions-reconcile', stdout);
  expect([rows[0].finding, totals]).toEqual([
    'amount_not_compared',
    [expect.objectContaining({ books_paid_minor: null, difference_minor: null })],
  ]);
  const mapped = await commissions('reconcile', path, '--map', 'amount=Betrag', '--json');
  expect([mapped.code, JSON.parse(mapped.stdout).rows[0].finding]).toEqual([3, 'different_amount']);
  expect(mapped.stderr).toContain('no currency was compared of 1 commission');
});

test('what only reads has the priority of reads, and a payment goes first, also where reconcile asks for it', async () => {
  const [one] = await unpaid(1);
  const id = one?.id ?? '';
  const books = await file('books.csv', 'commission_id,paid_at', `${id},2026-02-03T04:05:06Z`);
  const batch = await file('batch.csv', 'commission_id,action,paid_at', `${id},pay,2026-02-03T04:05:06Z`);
  // Some stay granted for a while after the command.
  const prioritiesOf = async (...args: string[]): Promise<string[]> => {
    await database.pool.query('truncate request_permits');
    const limited = { ...environment(), API_RATE_LIMIT: '1000/60' };
    expect((await runCli(['commissions', ...args], limited)).stderr).not.toContain('affiliate-mirror:');
    const { rows } = await database.pool.query<{ priority: string }>(
      'select distinct priority from request_permits order by 1',
    );
    return rows.map(({ priority }) => priority);
  };
  expect(await prioritiesOf('reconcile', books)).toEqual(['reads']);
  expect(await prioritiesOf('apply', batch, '--dry-run')).toEqual(['reads']);
  expect(await prioritiesOf('pay', id, '--dry-run')).toEqual(['reads']);
  expect(await prioritiesOf('reconcile', books, '--fix', '--wait')).toEqual(['payments', 'reads']);
  expect(await paidAt(id)).toMatch(/^2026-02-03T04:05:06/);
});

test('tracked commissions are registered once, from identifiers and files', async () => {
  const [a, b] = await unpaid(2);
  const path = await file('ids.csv', 'name,commission_id', `x,${a?.id}`, `y,${b?.id}`);
  expect((await commissions('track', path, a?.id ?? '')).stdout).toBe(
    '2 of 2 commissions were not tracked before\n',
  );
  expect((await commissions('track', b?.id ?? '')).stdout).toBe('0 of 1 commission was not tracked before\n');
  await database.pool.query('update tracked_commissions set next_poll_at = null where commission_id = $1', [
    b?.id,
  ]);
  expect((await commissions('track', path)).stdout).toBe(
    '0 of 2 commissions were not tracked before\n1 had been gone from the API, and will be asked for again\n',
  );
});
