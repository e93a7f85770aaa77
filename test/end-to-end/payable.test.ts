// From what is payable to what was paid, without a file of finance's own; and that nothing is paid twice on the way.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OptionalList } from '../../src/config/optional-lists.ts';
import { formatMoney } from '../../src/contract/money.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readDocument } from '../schemas/read-document.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';
import { readSheet } from '../support/workbook-parts.ts';

let directory: string;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-payable-'));
});
afterAll(async () => {
  for (const close of closers) await close();
  await rm(directory, { recursive: true });
});

async function setUp(optionalLists: readonly OptionalList[]) {
  const program = await createTestDatabase();
  const mirror = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 12, referrals: 300, optionalLists });
  closers.push(() => sandbox.close());
  await program.pool.query('update sandbox.affiliates set payout_email = email');
  const run = async (line: string) => {
    const args = line.split(' ').map((word) => word.replace('DIR', directory));
    const { code, stdout, stderr } = await runCli(args, {
      AFFILIATE_API_URL: sandbox.url,
      AFFILIATE_API_SECRET: SECRET,
      DATABASE_URL: mirror.url,
      API_RATE_LIMIT: 'none',
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
  const { program, mirror, sandbox, run, puts } = await setUp(['commissions']);
  const early = await run('commissions payable');
  expect(early.said).toContain('covers only the 0 commissions that the mirror knows');
  expect((await run('sync')).code).toBe(0);
  const due = await readDue(program);
  const currencies = [...new Set(due.map(({ currency }) => currency))];

  // Per affiliate and currency, and in all.
  const payable = await run('commissions payable');
  expect(payable.code, payable.said).toBe(0);
  expect(payable.stdout).toContain(`${due.length} commissions are payable by now`);
  expect(payable.stdout).toMatch(/covers all \d+ commissions of the program as of 2/);
  for (const currency of currencies) {
    const total = formatMoney(sumOf(due, currency), currency);
    expect(payable.stdout).toMatch(new RegExp(`│ ${currency} +│ +\\d+ │ +\\d+ │ +${total} │`));
  }
  const email = due[0]?.email ?? '';
  const theirs = due.filter((one) => one.email === email);
  const one = await run(`commissions payable --affiliate ${email.toUpperCase()}`);
  expect(one.stdout).toContain(`│ ${email} `);
  expect(one.stdout).toContain(`${theirs.length} commission`);
  expect((await run('commissions payable --before 2001-01-01')).stdout).toContain(
    'nothing is payable before',
  );

  // Two files, before anything is paid: the second would pay everything again.
  const made = await run('commissions payable --paid-at 2026-10-01T12:00:00Z -o DIR/october.xlsx');
  expect(made.code, made.said).toBe(0);
  const sheet = readSheet(await readFile(join(directory, 'october.xlsx')));
  expect(sheet.get('A2')?.value).toBe(due[0]?.id);
  const csv = await run('commissions payable --format csv');
  expect(csv.stdout.split('\r\n')).toHaveLength(due.length + 2);
  expect(csv.stdout.split('\r\n')[1]).toMatch(
    new RegExp(`^${due[0]?.id},pay,,,unpaid,[\\d.]+,${due[0]?.currency},`),
  );
  await writeFile(join(directory, 'november.csv'), csv.stdout);
  const blank = await run('commissions apply DIR/november.csv --wait');
  expect(blank.code).toBe(2);
  expect(blank.said).toContain('line 2: paid_at is blank');
  await writeFile(
    join(directory, 'november.csv'),
    csv.stdout.replaceAll(',pay,,', ',pay,2026-11-01T12:00:00Z,'),
  );

  const applied = await run('commissions apply DIR/october.xlsx --wait --json');
  expect(applied.code, applied.said).toBe(0);
  expect(JSON.parse(applied.stdout).counts).toEqual({ applied: due.length });
  expect(puts()).toBe(due.length);
  const paid = await readPaid(sandbox);
  expect(due.map(({ id }) => paid[id])).toEqual(due.map(() => '2026-10-01T12:00:00.000Z'));

  // Next month: the same file; the same with another date; the list again; the list of a mirror that knows of no
  // payment.
  const again = await run('commissions apply DIR/october.xlsx --wait');
  expect(again.code, again.said).toBe(0);
  expect(again.said).toContain(`${due.length} of ${due.length} were asked for before`);
  const later = await run('commissions apply DIR/november.csv --wait --json');
  expect(later.code).toBe(3);
  expect(JSON.parse(later.stdout).counts).toEqual({ conflict: due.length });
  const anew = await run('commissions apply DIR/october.xlsx --again --wait --json');
  expect(JSON.parse(anew.stdout).counts).toEqual({ conflict: due.length });
  expect((await run('commissions payable')).stdout).toContain('nothing is payable by now');
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
  const { program, sandbox, mirror, run } = await setUp(['commissions']);
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
  expect(shown).toContain('not to transfer, no payout address: 2 commissions of 1 affiliate, 7.50 EUR\n');
  expect(shown).toContain('not to transfer, zero or negative: 4 commissions of 2 affiliates, -1.00 EUR\n');

  // The view says the same.
  const { rows: balances } = await mirror.pool.query(
    'select affiliate_id, payout_email, amount, has_payout_address, is_transferable from mirror_reports.payouts_due order by 1',
  );
  expect(balances).toEqual(
    people.map(({ id, email }, index) => ({
      affiliate_id: id,
      payout_email: index === 0 ? null : `payout.${email}`,
      amount: ['750', '-100', '0', '750'][index],
      has_payout_address: index > 0,
      is_transferable: index === 3,
    })),
  );

  // What the file holds is what is transferred; a commission that was clawed back is read again as it was written.
  const csv = await run('commissions payable --paid-at 2026-10-01T12:00:00Z --format csv');
  const [header, ...lines] = csv.stdout.trimEnd().split('\r\n');
  expect(header).toMatch(/,affiliate_name,affiliate_email,payout_email,wise_email$/);
  expect(lines.map((line) => line.split(',')[0])).toEqual(due.slice(6));
  for (const line of lines) expect(line).toContain(`,${paid?.email},payout.${paid?.email},`);
  expect(csv.said).toContain(`Number ${lacking?.id.slice(0, 8)}`);
  await writeFile(join(directory, 'transfers.csv'), csv.stdout);
  const applied = await run('commissions apply DIR/transfers.csv --wait --json');
  expect(applied.code, applied.said).toBe(0);
  expect(JSON.parse(applied.stdout).counts).toEqual({ applied: 2 });
  const now = await readPaid(sandbox);
  expect(due.map((id) => now[id] !== null)).toEqual(due.map((_, index) => index >= 6));
  const made = await run('commissions payable --paid-at 2026-10-01T12:00:00Z -o DIR/transfers.xlsx');
  const sheet = readSheet(await readFile(join(directory, 'transfers.xlsx')));
  expect([sheet.get('M1')?.value, sheet.get('A2')]).toEqual(['payout_email', undefined]);
  expect(made.said).toContain('6 commissions are payable by now');

  // Of a person whose addresses the mirror does not keep, nothing says that there is none.
  await mirror.pool.query('update mirror.affiliates set email = null, payout_email = null where id = $1', [
    lacking?.id,
  ]);
  const unknown = (await run('commissions payable')).stdout;
  expect(unknown).toMatch(/Number \S+ +│ – +│ EUR +│ +2 │ +7\.50 EUR │/);
  expect(unknown).toContain('not known, as the mirror keeps none: payout addresses of 1 affiliate\n');
});

test('reconcile --due compares what is payable and what was paid here with the program, and fixes nothing', async () => {
  const { program, mirror, sandbox, run, puts } = await setUp(['commissions']);
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

test('where commissions are not listed, it says that only the known ones are covered, and as of when', async () => {
  const { program, run } = await setUp([]);
  expect((await run('sync')).code).toBe(0);
  const [a, b] = await readDue(program);
  expect((await run(`commissions unpay ${a?.id} --wait`)).code).toBe(0);
  const one = await run('commissions payable');
  expect(one.stdout).toContain('1 commission is payable by now');
  expect(one.stdout).toContain('covers only the 1 commission that the mirror knows');
  expect((await run(`commissions unpay ${b?.id} --wait`)).code).toBe(0);
  const payable = await run('commissions payable');
  expect(payable.code, payable.said).toBe(0);
  expect(payable.stdout).toContain('2 commissions are payable by now');
  expect(payable.stdout).toMatch(
    /covers only the 2 commissions that the mirror knows.*: the program is not known to list them/,
  );
});

test('sums of the largest amounts have all of their digits, for people and in JSON', async () => {
  const { program, run } = await setUp(['commissions']);
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
  const dry = await run(`${pay} --dry-run --json`);
  expect(dry.stdout).toContain(`"amount_minor": ${digits}\n`);
  readDocument('commissions-dry-run', dry.stdout);
  const paid = await run(`${pay} --wait --json`);
  expect(paid.stdout).toContain(`"amount_minor": ${digits}\n`);
  readDocument('commissions-requests', paid.stdout);
  const compared = await run('commissions reconcile --due --json');
  expect(compared.stdout).toContain(`"books_paid_minor": ${digits},\n`);
  expect(compared.stdout).toContain(`"program_paid_minor": ${digits},\n`);
  readDocument('commissions-reconcile', compared.stdout);
  expect((await run('commissions reconcile --due')).stdout).toContain(` ${shown} │`);
});
