// From the payouts that are due to paid commissions, at the command line, and by SQL.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import pg from 'pg';
import { expect, test } from 'vitest';
import { describeGrants } from '../../src/db/access/grants.ts';
import { readDocument } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { runCli } from '../support/run-cli.ts';
import { readSheet } from '../support/workbook-parts.ts';

const database = await createTestDatabase();
const sandbox = await runSandbox(database.pool, {
  referrals: 400,
  optionalLists: ['commissions', 'payouts'],
});
const directory = await makeDirectory();

async function run(...args: string[]) {
  return await runAs(database.url, ...args);
}

async function runAs(url: string, ...args: string[]) {
  const { code, stdout, stderr } = await runCli(args, {
    DATABASE_URL: url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
  });
  return { code, stdout, said: `${stdout}${stderr}` };
}

const puts = () => sandbox.requests.filter(({ method }) => method === 'PUT').length;

interface Paid {
  readonly payouts: number;
  readonly commissions: number;
}

async function paid(schema: string): Promise<Paid | undefined> {
  const { rows } = await database.pool.query<Paid>(
    `select (select count(*) from ${schema}.payouts where state = 'paid') as payouts,
            (select count(*) from ${schema}.commissions where payout_id is not null and paid_at is not null)
              as commissions`,
  );
  return rows[0];
}

test('what is listed is paid by one PUT each, and applied again nothing is sent', async () => {
  await sandbox.program.setProcessing(20);
  await keepPayable();
  await run('sync');
  const listed = await run('payouts', 'list', '--json');
  const payouts = readDocument('payouts-due', listed.stdout).payouts as { state: string }[];
  const due = payouts.filter(({ state }) => state === 'due').length;
  expect(due).toBeGreaterThan(2);
  const table = (await run('payouts', 'list')).stdout;
  expect(table).toContain('affiliate');
  expect(table).toMatch(/│ currency +│ affiliates │ payouts │ commissions │ +amount │/);
  await expectEqualSums(table);

  const path = join(directory, 'due.csv');
  expect(await run('payouts', 'list', '-o', path)).toMatchObject({ code: 0 });
  const rows: Record<string, string>[] = parse(await readFile(path), { columns: true, bom: true });
  expect(rows).toHaveLength(due);
  const dry = await run('payouts', 'pay', path, '--dry-run', '--json');
  expect(dry.code).toBe(0);
  expect(readDocument('commissions-dry-run', dry.stdout).rows).toMatchObject(
    rows.map(({ payout_id }) => ({ payout_id, commission_id: null, would: 'change' })),
  );
  const single = await database.pool.query<{ id: string; payout_id: string }>(
    'select id, payout_id from sandbox.commissions where payout_id = $1 limit 1',
    [rows[0]?.payout_id],
  );
  const [covered = { id: '', payout_id: '' }] = single.rows;
  expect((await run('commissions', 'pay', covered.id, '--dry-run')).said).toContain(
    `payout ${covered.payout_id} has it`,
  );
  expect(puts()).toBe(0);

  const result = join(directory, 'result.csv');
  const done = await run('payouts', 'pay', path, '--wait', '--result', result, '--reason', 'November');
  expect(done).toMatchObject({ code: 0 });
  expect(puts()).toBe(due);
  const outcomes: Record<string, string>[] = parse(await readFile(result), { columns: true, bom: true });
  expect(outcomes.map(({ result_state }) => result_state)).toEqual(rows.map(() => 'applied'));
  expect(await paid('mirror')).toEqual(await paid('sandbox'));
  const status = await run('payouts', 'status', covered.id, '--json');
  expect(readDocument('commissions-requests', status.stdout).requests).toMatchObject([
    { payout_id: covered.payout_id, state: 'applied', reason: 'November' },
  ]);

  const again = await run('payouts', 'pay', path, '--wait');
  expect(again).toMatchObject({ code: 0, said: expect.stringContaining('not queued again') });
  expect((await run('payouts', 'pay', path, '--wait', '--again')).said).toContain(`${due} unchanged`);
  expect(puts()).toBe(due);
});

/** Dissolves payouts that are being paid, or have a commission that is not payable: the others are wholly payable. */
async function keepPayable(): Promise<void> {
  await database.pool.query(
    `with unlike as (
       delete from sandbox.payouts p where state <> 'paid' and (state <> 'due' or exists (
         select from sandbox.commissions c join sandbox.sales s on s.id = c.sale_id
         where c.payout_id = p.id and (c.state <> 'due' or c.due_at > now() or s.refund_amount_cents > 0)))
       returning id)
     update sandbox.commissions set payout_id = null where payout_id in (select id from unlike)`,
  );
}

/** What is payable one by one names what payouts cover: as many as payouts list, and as much. */
async function expectEqualSums(listed: string): Promise<void> {
  const said = (await run('commissions', 'payable')).stdout;
  const covered = said.matchAll(
    /^of these (\d+) payouts? .* covers? (\d+) commissions?: (\S+) ([A-Z]{3}) \(/gm,
  );
  const sums = [...covered].map(([, payouts, commissions, amount, currency]) => [
    currency,
    payouts,
    commissions,
    `${amount} ${currency}`,
  ]);
  expect(sums.length).toBeGreaterThan(0);
  const totals = listed.matchAll(/│ ([A-Z]{3}) +│ +\d+ │ +(\d+) │ +(\d+) │ +(\S+ [A-Z]{3}) │/g);
  expect([...totals].map(([, ...cells]) => cells)).toEqual(sums);
}

test('the workbook has names first and amounts as numbers, and is read back whole', async () => {
  const payout = await sandbox.program.insertPayout();
  await run('sync', 'payouts', 'commissions');
  const path = join(directory, 'due.xlsx');
  expect(await run('payouts', 'list', '-o', path)).toMatchObject({ code: 0 });
  const sheet = readSheet(await readFile(path));
  const header = 'ABCDE'.split('').map((column) => sheet.get(`${column}1`)?.value);
  expect(header).toEqual([
    'affiliate_name',
    'payout_address',
    'payout_id',
    'expected_amount_major',
    'expected_currency',
  ]);
  expect(sheet.get('C2')?.value).toBe(payout.id);
  expect(sheet.get('D2')).toMatchObject({ isText: false, format: expect.stringContaining('#,##0') });
  const dry = await run('payouts', 'pay', path, '--dry-run');
  expect(dry).toMatchObject({ code: 0, said: expect.not.stringContaining('not read') });
  expect(dry.said).toContain('1 change');
});

test('the commands say payouts, and name their own commands', async () => {
  for (const [command, says] of [
    ['status', 'affiliate-mirror payouts status 4711'],
    ['retry', 'pay --again'],
    ['cancel', 'the identifier of a payout'],
  ] as const) {
    const { stdout } = await run('payouts', command, '--help');
    expect(stdout.replace(/\s+/g, ' ')).toContain(says);
    expect(stdout).not.toMatch(/identifier of a\s+commission|affiliate-mirror commissions/);
  }
  expect((await run('payouts', 'status', 'november')).said).toContain('"affiliate-mirror payouts status"');
  const payout = await sandbox.program.insertPayout();
  const { said } = await run('payouts', 'pay', payout.id);
  const edited = database.pool.query(
    `update mirror.commission_updates set reason = 'x' where payout_id = $1`,
    [payout.id],
  );
  await expect(edited).rejects.toMatchObject({
    hint: expect.stringContaining('affiliate-mirror payouts cancel'),
  });
  const [, batch = ''] = said.match(/affiliate-mirror payouts status (\S+)/) ?? [];
  expect((await run('payouts', 'cancel', batch)).said).toContain('1 cancelled');
});

test('bad rows are named with their lines and what to run, and the others go on', async () => {
  const [good, other, disputed, twice] = [
    await sandbox.program.insertPayout(),
    await sandbox.program.insertPayout(),
    await sandbox.program.insertPayout(),
    await sandbox.program.insertPayout(),
  ];
  await sandbox.program.setProcessing(0);
  await sandbox.program.updatePayout(disputed.id, { state: 'disputed' });
  const path = join(directory, 'bad.csv');
  const lines = [
    'payout_id,expected_amount',
    'x,1',
    `${twice.id},1`,
    `${twice.id},1`,
    '00000000-0000-4000-8000-00000000dead,1',
    `${other.id},1`,
    `${disputed.id},`,
    `${good.id},${good.amount}`,
  ];
  await writeFile(path, `${lines.join('\n')}\n`);
  const bad = await run('payouts', 'pay', path);
  expect(bad.code).toBe(2);
  expect(bad.said).toContain('nothing was queued from');
  expect(bad.said).toContain('(--skip-invalid queues its good rows)');
  expect(bad.said).toContain('line 2: payout_id "x" is not a UUID');
  expect(bad.said).toContain(`line 3: the payout ${twice.id} is on line 4 too: keep one of the two`);
  const before = puts();
  const part = await run('payouts', 'pay', path, '--skip-invalid', '--wait', '--json');
  expect(part.code).toBe(3);
  const next = '"affiliate-mirror sync payouts" and then "payouts list" show what is due now';
  expect(readDocument('commissions-requests', part.stdout).requests).toMatchObject([
    { line: 5, state: 'not_found', outcome: 'the affiliate program has no such payout', note: next },
    { line: 6, state: 'conflict', outcome: expect.stringContaining('expected the amount'), note: next },
    { line: 7, state: 'conflict', outcome: expect.stringContaining('state is disputed'), note: next },
    { line: 8, state: 'applied', puts: 1 },
  ]);
  expect(puts()).toBe(before + 1);
  expect(await run('payouts', 'pay', '17')).toMatchObject({ code: 2 });

  // A payment made with a payout is taken back commission by commission.
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from sandbox.commissions where payout_id = $1 order by id limit 1',
    [good.id],
  );
  const id = rows[0]?.id ?? '';
  expect(await run('commissions', 'unpay', id, '--wait')).toMatchObject({ code: 0 });
  const { rows: now } = await database.pool.query(
    'select there.paid_at as there, here.paid_at as here from sandbox.commissions there join mirror.commissions here using (id) where id = $1',
    [id],
  );
  expect(now).toEqual([{ there: null, here: null }]);
});

test('a member of payroll asks by SQL: a good payout ends as applied, and a bad row is refused with its sentence', async () => {
  const payout = await sandbox.program.insertPayout();
  const role = `payroll_${database.url.replace(/^.*\//, '').replace(/\W.*$/, '')}`;
  await database.pool.query(
    `create role ${role}; create role ${role}_member login password 'p' in role ${role}`,
  );
  try {
    await database.pool.query(describeGrants('payroll', { role, schema: 'mirror', queueSchema: null }));
    const url = database.url.replace(/\/\/[^@]+@/, `//${role}_member:p@`);
    const asked = new pg.Client({ connectionString: url });
    await asked.connect();
    const ask = (columns: string, values: string) =>
      asked.query(
        `insert into mirror.commission_updates (payout_id, action${columns}) values ($1, 'pay'${values})`,
        [payout.id],
      );
    await ask('', '');
    await expect(ask(', paid_at', ', now()')).rejects.toMatchObject({
      hint: expect.stringContaining('the API dates the payment'),
    });
    await asked.end();
    // The command asks whether payouts are listed, and is answered by the request that waits.
    expect(await runAs(url, 'payouts', 'pay', payout.id)).toMatchObject({
      code: 0,
      said: expect.stringContaining('not queued again'),
    });
    expect(await run('payouts', 'pay', payout.id, '--wait')).toMatchObject({ code: 0 });
    const { rows } = await database.pool.query(
      'select state, put_sent_at is not null as is_sent, database_user from mirror.commission_updates where payout_id = $1',
      [payout.id],
    );
    expect(rows).toEqual([{ state: 'applied', is_sent: true, database_user: `${role}_member` }]);
  } finally {
    await database.pool.query(`drop owned by ${role}; drop role ${role}_member, ${role}`);
  }
});

interface PaidPayout {
  readonly affiliate_id: string;
  readonly email: string;
  readonly payout_email: string | null;
  readonly amount: number;
  readonly currency: string;
}

test("a provider's file is compared with the payouts that are paid", async () => {
  await run('sync');
  const { rows: payouts } = await database.pool.query<PaidPayout>(
    `select affiliate_id, affiliate.email, nullif(payout_email, '') as payout_email, amount, currency
     from mirror.payouts payout join mirror.affiliates affiliate on affiliate.id = affiliate_id
     where payout.state in ('paid', 'processing') order by payout.paid_at desc, payout.id`,
  );
  const [first, second] = payouts;
  expect(payouts.length).toBeGreaterThan(3);
  const path = join(directory, 'provider.csv');
  const lines = payouts.map(({ affiliate_id, email, payout_email, amount, currency }, index) => {
    const named = [affiliate_id, email.toUpperCase(), payout_email ?? email][index % 3];
    return `${named},${amount},${currency}`;
  });
  const write = (rows: readonly string[]) =>
    writeFile(path, `${['who,amount,currency', ...rows].join('\n')}\n`);
  const compare = (...args: string[]) =>
    run('commissions', 'reconcile', path, '--by', 'payout', '--map', 'affiliate=who', ...args);
  const rowsOf = ({ stdout }: { stdout: string }): Record<string, unknown>[] =>
    readDocument('commissions-reconcile-payouts', stdout).rows;

  await write(lines);
  const agreeing = await compare('--json');
  expect(agreeing.code, agreeing.said).toBe(0);
  expect(rowsOf(agreeing).map(({ finding }) => finding)).toEqual(payouts.map(() => 'match'));

  const [, ...others] = lines;
  const differing = [`${first?.affiliate_id},1,XTS`, 'stranger@example.com,2,EUR'];
  await write([...others, ...differing]);
  const found = await compare('--csv');
  expect(found.code).toBe(3);
  const records: Record<string, string>[] = parse(found.stdout, { columns: true });
  const different = records.filter(({ finding }) => finding !== 'match');
  expect(different.map(({ finding }) => finding)).toEqual(['not_paid', 'unknown_affiliate', 'not_in_books']);
  expect(different.at(-1)).toMatchObject({
    affiliate_id: first?.affiliate_id,
    program_amount_minor: String(first?.amount),
  });
  expect((await compare()).said).toContain(
    `${payouts.length + 2} payouts compared, as of the last sync: 3 differ`,
  );

  // Of nothing that was paid before it is anything said.
  await write([`${second?.affiliate_id},1,EUR`]);
  const later = rowsOf(await compare('--json', '--since', '2099-01-01'));
  expect(later.map(({ finding }) => finding)).not.toContain('not_in_books');

  for (const flag of ['--note', '--fix', '--due', '--accept=x']) {
    const refused = await run('commissions', 'reconcile', path, '--by', 'payout', flag);
    expect(refused).toMatchObject({ code: 2, said: expect.stringContaining("option '--by <what>' cannot") });
  }
  await database.pool.query(`update mirror.optional_lists set setting = 'off' where resource = 'payouts'`);
  expect(await compare()).toMatchObject({
    code: 2,
    said: expect.stringContaining('payouts are not mirrored'),
  });
});
