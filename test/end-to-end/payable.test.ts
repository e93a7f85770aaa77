// From what is payable to what was paid, without a file of finance's own; and that nothing is paid twice on the way.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MONEY } from '../../src/contract/money.ts';
import { readDocument } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { runCli } from '../support/run-cli.ts';
import { readSheet } from '../support/workbook-parts.ts';

const directory = await makeDirectory();

async function setUp() {
  const program = await createTestDatabase();
  const mirror = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, {
    affiliates: 12,
    referrals: 300,
    optionalLists: ['commissions'],
  });
  await program.pool.query('update sandbox.affiliates set payout_email = email');
  const run = async (line: string, limit = 'none', more = {}) => {
    const args = line.split(' ').map((word) => word.replace('DIR', directory));
    const { code, stdout, stderr } = await runCli(args, {
      AFFILIATE_API_URL: sandbox.url,
      AFFILIATE_API_SECRET: SECRET,
      DATABASE_URL: mirror.url,
      API_RATE_LIMIT: limit,
      ...more,
    });
    return { code, stdout, said: `${stdout}${stderr}` };
  };
  const puts = () => sandbox.requests.filter(({ method }) => method === 'PUT').length;
  return { program, mirror, sandbox, run, puts };
}

interface Due {
  readonly id: string;
  readonly email: string;
  readonly amount: number;
  readonly currency: string;
}

/** Returns what the program itself has as payable now. */
async function readDue({ pool }: TestDatabase): Promise<Due[]> {
  const { rows } = await pool.query<Due>(
    `select commission.id, affiliate.email, commission.amount, commission.currency
     from sandbox.commissions commission
     join sandbox.sales sale on sale.id = commission.sale_id
     join sandbox.referrals referral on referral.id = sale.referral_id
     join sandbox.affiliates affiliate on affiliate.id = referral.affiliate_id
     where commission.paid_at is null and commission.voided_at is null and commission.due_at <= now()
     order by affiliate.email, commission.currency, commission.id`,
  );
  return rows;
}

const sumOf = (due: readonly Due[], currency: string) =>
  due.filter((one) => one.currency === currency).reduce((sum, { amount }) => sum + amount, 0);

/** Returns what of the program's money has moved: which commissions it has as paid, and when. */
async function readPaid(sandbox: TestSandbox): Promise<Record<string, string | null>> {
  const all = await sandbox.allCommissions();
  return Object.fromEntries(all.map(({ id, paid_at }) => [id, paid_at]));
}

test('where commissions are listed, all that is payable is paid once, whatever is applied again', async () => {
  const { program, mirror, sandbox, run, puts } = await setUp();
  const early = await run('commissions payable');
  expect(early.said).toContain('covers only the 0 commissions that the mirror knows');
  expect((await run('sync')).code).toBe(0);
  const due = await readDue(program);
  const currencies = [...new Set(due.map(({ currency }) => currency))];

  // Per affiliate and currency, and in all.
  const payable = await run('commissions payable');
  expect(payable.code, payable.said).toBe(0);
  expect(payable.stdout).toContain(`${due.length} commissions are payable by now`);
  expect(payable.stdout).toMatch(/covers all \d+ commissions of the affiliate program as of 2/);
  for (const currency of currencies) {
    const total = MONEY.minor.format(sumOf(due, currency), currency);
    expect(payable.stdout).toMatch(new RegExp(`│ ${currency} +│ +\\d+ │ +\\d+ │ +${total} │`));
  }
  const email = due[0]?.email ?? '';
  const theirs = due.filter((one) => one.email === email);
  const one = await run(`commissions payable --affiliate ${email.toUpperCase()}`);
  expect(one.stdout).toContain(`${theirs.length} commission`);

  // Two files, before anything is paid: the second would pay everything again.
  const made = await run('commissions payable --paid-at 2026-10-01T12:00:00Z -o DIR/october.xlsx');
  expect(made.code, made.said).toBe(0);
  const sheet = readSheet(await readFile(join(directory, 'october.xlsx')));
  expect(sheet.get('G2')?.value).toBe(due[0]?.id);
  const csv = await run('commissions payable --format csv');
  expect(csv.stdout.split('\r\n')).toHaveLength(due.length + 2);
  expect(csv.stdout.split('\r\n')[1]).toMatch(
    new RegExp(`,${due[0]?.id},pay,,unpaid,[\\d.]+,${due[0]?.currency},`),
  );
  await writeFile(
    join(directory, 'november.csv'),
    csv.stdout.replaceAll(',pay,,', ',pay,2026-11-01T12:00:00Z,'),
  );

  const applied = await run('commissions apply DIR/october.xlsx --wait --json');
  expect(applied.code, applied.said).toBe(0);
  expect(applied.said).not.toContain('not read');
  expect(JSON.parse(applied.stdout).counts).toEqual({ applied: due.length });
  expect(puts()).toBe(due.length);
  const paid = await readPaid(sandbox);
  expect(due.map(({ id }) => paid[id])).toEqual(due.map(() => '2026-10-01T12:00:00.000Z'));

  // Next month: the same file; the same with another date; the list again; the list of a mirror that knows of no
  // payment.
  const again = await run('commissions apply DIR/october.xlsx --wait');
  expect(again.code, again.said).toBe(0);
  expect(again.said).toContain(`${due.length} of ${due.length} were asked for before`);
  for (const apply of ['november.csv', 'october.xlsx --again']) {
    const later = await run(`commissions apply DIR/${apply} --wait --json`);
    expect([later.code, JSON.parse(later.stdout).counts]).toEqual([3, { conflict: due.length }]);
  }
  expect((await run('commissions payable')).stdout).toContain('nothing is payable by now');
  const inBerlin = { DISPLAY_TIMEZONE: 'Europe/Berlin' };
  const midnight = await run('commissions payable --before 2020-07-01', 'none', inBerlin);
  expect(midnight.stdout).toContain('nothing is payable before 2020-07-01 00:00 +02:00');
  await mirror.pool.query(
    "update mirror.commissions set paid_at = null where paid_at = '2026-10-01T12:00:00Z'",
  );
  const forgetful = await run('commissions payable');
  expect(forgetful.stdout).toContain('nothing is payable by now');
  expect(forgetful.stdout).toContain(
    `left out although due: ${due.length} (by the payment ledger it was paid before)`,
  );
  expect(puts()).toBe(due.length);
  expect(await readPaid(sandbox)).toEqual(paid);
});

test('who cannot or need not be paid is named with the sum, and is in no sum to transfer and no payout file', async () => {
  const { program, sandbox, mirror, run } = await setUp();
  const { pool } = program;
  const { rows: people } = await pool.query<{ id: string; email: string; due: string[] }>(
    `select affiliate.id, affiliate.email, array_agg(commission.id order by commission.id) as due
     from sandbox.commissions commission
     join sandbox.sales sale on sale.id = commission.sale_id
     join sandbox.referrals referral on referral.id = sale.referral_id
     join sandbox.affiliates affiliate on affiliate.id = referral.affiliate_id
     where commission.paid_at is null and commission.voided_at is null and commission.due_at <= now()
     group by affiliate.id having count(*) > 1 order by affiliate.id limit 4`,
  );
  const [lacking, owing, even, paid] = people;
  // All others are paid already, and each of the four has two commissions.
  const due = people.flatMap(({ due: [a, b] }) => [a ?? '', b ?? '']);
  await pool.query(`update sandbox.commissions set paid_at = now() where paid_at is null and id <> all($1)`, [
    due,
  ]);
  const amounts = [700, 50, 300, -400, 900, -900, 1000, -250];
  for (const [index, id] of due.entries()) {
    await pool.query(`update sandbox.commissions set amount = $2, currency = 'EUR' where id = $1`, [
      id,
      amounts[index],
    ]);
  }
  await pool.query(`update sandbox.affiliates set last_name = 'Number ' || substr(id, 1, 8)`);
  await pool.query(
    `update sandbox.affiliates set payout_email = case when id = $1 then '' else 'payout.' || email end`,
    [lacking?.id],
  );
  expect((await run('sync')).code).toBe(0);

  const shown = (await run('commissions payable')).stdout;
  expect(shown).toMatch(new RegExp(`│ payout\\.${paid?.email} +│ EUR +│ +2 │ +7\\.50 EUR │`));
  expect(shown).toMatch(
    /│ currency │ affiliates │ commissions │ to transfer │\n.*\n│ EUR +│ +1 │ +2 │ +7\.50 EUR │/,
  );
  const others = [
    [lacking, '7.50 EUR', 'no payout address'],
    [owing, '-1.00 EUR', 'zero or negative'],
    [even, '0.00 EUR', 'zero or negative'],
  ] as const;
  for (const [who, sum, why] of others) {
    expect(shown).toMatch(
      new RegExp(`│ \\S+ Number ${who?.id.slice(0, 8)} +│ ${who?.email} +│ +2 │ +${sum} │ ${why} +│`),
    );
  }
  expect(shown).toContain('8 commissions are payable by now\n');

  // What the file holds is what is transferred; a commission that was clawed back is read again as it was written.
  const csv = await run('commissions payable --paid-at 2026-10-01T12:00:00Z --format csv');
  const [header, ...lines] = csv.stdout.trimEnd().split('\r\n');
  expect(header).toMatch(
    /^affiliate_name,affiliate_email,payout_email,wise_email,due_date,payout_id,commission_id,/,
  );
  expect(lines.map((line) => line.split(',')[6])).toEqual(due.slice(6));
  for (const line of lines) expect(line).toContain(`,${paid?.email},payout.${paid?.email},`);
  expect(csv.said).toContain(`Number ${lacking?.id.slice(0, 8)}`);
  await writeFile(join(directory, 'transfers.csv'), csv.stdout);
  const applied = await run('commissions apply DIR/transfers.csv --wait --json');
  expect(JSON.parse(applied.stdout).counts).toEqual({ applied: 2 });
  const now = await readPaid(sandbox);
  expect(due.map((id) => now[id] !== null)).toEqual(due.map((_, index) => index >= 6));

  // Of a person whose addresses the mirror does not keep, nothing says that there is none.
  await mirror.pool.query('update mirror.affiliates set email = null, payout_email = null where id = $1', [
    lacking?.id,
  ]);
  const unknown = (await run('commissions payable')).stdout;
  expect(unknown).toMatch(/Number \S+ +│ – +│ EUR +│ +2 │ +7\.50 EUR │/);
  expect(unknown).toContain('not known, as the mirror keeps none: payout addresses of 1 affiliate\n');
});

test('reconcile --due compares what is payable and what was paid here with the program, and fixes nothing', async () => {
  const { program, mirror, sandbox, run, puts } = await setUp();
  expect((await run('sync')).code).toBe(0);
  const [a, b, c, d] = await readDue(program);
  expect((await run(`commissions pay ${a?.id} ${b?.id} --at 2026-10-01T12:00:00Z --wait`)).code).toBe(0);
  const agreed = await run('commissions reconcile --due');
  expect(agreed.code, agreed.said).toBe(0);
  const compared = ({ said }: { said: string }) =>
    Number(/^(\d+) commissions compared: 0 differ$/m.exec(said)?.[1]);
  const all = compared(agreed);
  expect(compared(await run('commissions reconcile --due --since 2026-10-01'))).toBe(all);
  expect(compared(await run('commissions reconcile --due --since 2026-10-01T12:00:01Z'))).toBe(all - 2);

  // Elsewhere, and not seen by the mirror: taken back, paid, worth something else.
  await sandbox.put(a?.id ?? '', 'paid_at=');
  await sandbox.put(c?.id ?? '', 'paid_at=2026-10-02T00:00:00Z');
  await sandbox.program.updateCommission(d?.id ?? '', { amount: 1 });
  // One of them was asked for here, and failed although it had arrived.
  await mirror.pool.query(
    `insert into mirror.commission_updates (commission_id, action, paid_at) values ('${c?.id}', 'pay', '2026-10-02T00:00:00Z');
     update mirror.commission_updates set state = 'failed', outcome = 'no answer', finished_at = now(), put_sent_at = now()
     where commission_id = '${c?.id}'`,
  );
  const before = puts();
  const report = await run('commissions reconcile --due --json');
  expect(report.code).toBe(3);
  const { rows } = JSON.parse(report.stdout) as { rows: { commission_id: string; finding: string }[] };
  const findings = new Map(rows.map(({ commission_id, finding }) => [commission_id, finding]));
  expect([a, b, c, d].map((one) => findings.get(one?.id ?? ''))).toEqual([
    'unpaid_upstream',
    'match',
    'not_in_books',
    'different_amount',
  ]);
  expect(rows.filter(({ finding }) => finding !== 'match')).toHaveLength(3);
  expect(puts()).toBe(before);
});

test('sums of the largest amounts have all of their digits, for people and in JSON', async () => {
  const { program, run } = await setUp();
  const due = (await readDue(program)).slice(0, 3).map(({ id }) => id);
  await program.pool.query(
    "update sandbox.commissions set amount = 9007199254740991, currency = 'CHF' where id = any($1)",
    [due],
  );
  expect((await run('sync')).code).toBe(0);
  // In a double, it would end in 972.
  const [shown, digits] = ['270,215,977,642,229.73 CHF', '27021597764222973'];
  expect((await run('commissions payable')).stdout).toMatch(new RegExp(`│ CHF +│ +\\d │ +3 │ +${shown} │`));

  const pay = `commissions pay ${due.join(' ')} --at 2026-10-01T12:00:00Z`;
  expect((await run(`${pay} --dry-run`)).stdout).toContain(` ${shown} │`);
  const paid = await run(`${pay} --wait --json`);
  expect(paid.stdout).toContain(`"amount_minor": ${digits}\n`);
  readDocument('commissions-requests', paid.stdout);
  const compared = await run('commissions reconcile --due --json');
  expect(compared.stdout).toContain(`"books_paid_minor": ${digits},\n`);
  readDocument('commissions-reconcile', compared.stdout);
});

test('what is listed is never older than what it is said to cover', async () => {
  const { pool, url } = await createTestDatabase();
  await pool.query(
    `update optional_lists set is_served = true, found_at = now(), found_by = 'a test' where resource = 'commissions'`,
  );
  const sync = await pool.connect();
  // What is covered is read from this table too: so the sync ends before that, or in between.
  await sync.query(
    'begin; set local idle_in_transaction_session_timeout = 0; lock table tracked_commissions',
  );
  const payable = runCli(['commissions', 'payable'], { DATABASE_URL: url });
  await expect.poll(() => countWaiting(pool), { timeout: 60_000 }).toBe(1);
  await sync.query(`
    insert into commissions (id, amount, currency, due_at, _first_seen_at, _changed_at, _observed_at)
    values ('new', 8395, 'EUR', '2026-01-01T00:00:00Z', now(), now(), now());
    insert into sync_runs (resource, mode, state, verified, started_at, finished_at)
    values ('commissions', 'full', 'succeeded', true, now(), now());
    commit`);
  sync.release();
  const { stdout } = await payable;
  expect(stdout).toContain('covers all 1 commission of the affiliate program');
  expect(stdout).toContain('1 commission is payable by now');
});

test('a payment that was made through here meanwhile is no difference, and one made elsewhere is', async () => {
  const { mirror, sandbox, run } = await setUp();
  const { pool } = mirror;
  expect((await run('sync')).code).toBe(0);
  const { rows: due } = await pool.query<{ id: string }>(
    'select commission_id as id from unpaid_commissions where is_payable order by commission_id limit 3',
  );
  const [here = '', elsewhere = '', waiting = ''] = due.map(({ id }) => id);

  // It has read the books, and waits for the permit of its first request.
  const worker = await pool.connect();
  await worker.query('begin; set local idle_in_transaction_session_timeout = 0; lock table request_budget');
  const reconciled = run('commissions reconcile --due --json', '1000/1');
  await expect.poll(() => countWaiting(pool), { timeout: 60_000 }).toBe(1);
  for (const id of [here, elsewhere, waiting]) await sandbox.put(id, `paid_at=2026-10-01T12:00:00Z`);
  await worker.query(`
    insert into commission_updates (commission_id, action, paid_at)
    values ('${here}', 'pay', '2026-10-01T12:00:00Z'), ('${waiting}', 'pay', '2026-10-01T12:00:00Z');
    update commission_updates set state = 'applied', outcome = 'so', finished_at = now() where commission_id = '${here}';
    commit`);
  worker.release();

  const { code, stdout } = await reconciled;
  const { rows } = JSON.parse(stdout) as { rows: { commission_id: string; finding: string }[] };
  const findings = new Map(rows.map(({ commission_id, finding }) => [commission_id, finding]));
  expect([here, elsewhere, waiting].map((id) => findings.get(id))).toEqual([
    undefined,
    'not_in_books',
    undefined,
  ]);
  expect(code).toBe(3);
});

test('who was paid in a month is by the days of the zone, per currency and affiliate, as sums and as a file', async () => {
  const { mirror, run } = await setUp();
  expect((await run('sync')).code).toBe(0);
  const { rows } = await mirror.pool.query<{ id: string; name: string; email: string }>(
    `select (array_agg(commission.id))[1:2] as ids, first_name || ' ' || last_name as name, email
     from mirror.commissions commission join mirror.sales sale on sale.id = sale_id
     join mirror.affiliates affiliate on affiliate.id = affiliate_id
     group by affiliate.id having count(*) > 1 order by affiliate.id limit 2`,
  );
  const [one, other] = rows as unknown as { ids: string[]; name: string; email: string }[];
  await mirror.pool.query('update mirror.commissions set paid_at = null');
  const paid = [
    [one?.ids[0], '2026-10-31T23:00:00Z', 8292, 'EUR'],
    [one?.ids[1], '2026-11-15T00:00:00Z', 1, 'eur'],
    [other?.ids[0], '2026-11-30T22:59:59Z', 5980, 'JPY'],
    [other?.ids[1], '2026-11-30T23:00:00Z', 700, 'EUR'],
  ];
  for (const values of paid) {
    await mirror.pool.query(
      'update mirror.commissions set paid_at = $2, amount = $3, currency = $4 where id = $1',
      values,
    );
  }
  const november = 'commissions paid --month 2026-11 --timezone Europe/Berlin';
  const shown = await run(november);
  expect(shown.code, shown.said).toBe(0);
  expect(shown.stdout).toContain('3 commissions were paid in 2026-11 (Europe/Berlin)\n');
  expect(shown.stdout).toMatch(new RegExp(`│ ${one?.name} +│ ${one?.email} +│ EUR +│ +2 │ +82\\.93 EUR │`));
  expect(shown.stdout).toMatch(
    /│ all +│ – +│ EUR +│ +2 │ +82\.93 EUR │\n│ all +│ – +│ JPY +│ +1 │ +5,980 JPY │/,
  );
  const inUtc = await run('commissions paid --month 2026-11');
  expect(inUtc.stdout).toMatch(/│ all +│ – +│ EUR +│ +2 │ +7\.01 EUR │/);
  const day = await run('commissions paid --from 2026-12-01 --to 2026-12-01 --timezone Europe/Berlin');
  expect(day.stdout).toContain('1 commission was paid from 2026-12-01 to 2026-12-01 (Europe/Berlin)\n');
  expect((await run('commissions paid')).stdout).toMatch(/ paid in 20\d\d-\d\d \(UTC\)\n/);

  const csv = await run(`${november} --format csv`);
  const { email } = one ?? {};
  expect(csv.stdout.split('\r\n')).toEqual([
    'affiliate_name,affiliate_email,affiliate_id,currency,commissions,amount_major',
    expect.stringMatching(new RegExp(`^${one?.name},${email},[0-9a-f-]+,EUR,2,82\\.93$`)),
    expect.stringMatching(/,JPY,1,5980$/),
    '',
  ]);
  const written = await run(`${november} -o DIR/paid.xlsx`);
  expect(written.said).toMatch(/^written: \S+paid\.xlsx \(2 rows\)$/m);
  const sheet = readSheet(await readFile(join(directory, 'paid.xlsx')));
  expect(['A2', 'D2', 'E2', 'F2', 'F3'].map((cell) => sheet.get(cell)?.value)).toEqual([
    ...[one?.name, 'EUR', '2', '82.93', '5980'],
  ]);
});
