// The whole of finance's day: a template, filled in with Excel, tried, applied, handed back, and compared with the
// books; in a German and an English file, to the cent. What the program wrote as .xlsx is read here by another reader.

import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requestsDocument } from '../../src/cli/documents/commissions.ts';
import { writeWorkbook } from '../../src/cli/output/table-writer.ts';
import { BATCH_COLUMNS } from '../../src/payments/files/batch-file.ts';
import { readAs, readDocument } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { type CliRun, runCli, spawnCli } from '../support/run-cli.ts';
import { readSheet } from '../support/workbook-parts.ts';

const database = await createTestDatabase();
const sandbox = await runSandbox(database.pool, { referrals: 600 });
const directory = await makeDirectory();

function commissions(...args: string[]): Promise<CliRun> {
  return commissionsWith({}, ...args);
}

function commissionsWith(more: Readonly<Record<string, string>>, ...args: string[]): Promise<CliRun> {
  return runCli(['commissions', ...args], {
    ...more,
    DATABASE_URL: database.url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
  });
}

const inDirectory = (name: string) => join(directory, name);
const putsSince = (number: number) =>
  sandbox.requests.filter((request) => request.number > number && request.method === 'PUT').length;
const lastRequest = () => sandbox.requests.at(-1)?.number ?? 0;

/** Returns unpaid commissions with these amounts and currencies, which the program has from now on. */
async function withAmounts(...wanted: readonly (readonly [number, string])[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [amount, currency] of wanted) {
    const { rows } = await database.pool.query(
      `update sandbox.commissions set amount = $1, currency = $2, due_at = '2026-01-01T00:00:00Z'
       where id = (select id from sandbox.commissions
                   where paid_at is null and voided_at is null and id <> all($3) order by id limit 1)
       returning id`,
      [amount, currency, [...ids, ...taken]],
    );
    ids.push(rows[0].id);
  }
  taken.push(...ids);
  return ids;
}
const taken: string[] = [];

async function paidAt(id: string): Promise<string | null> {
  return (await sandbox.commission(id)).paid_at;
}

test('a German day: template, Excel, dry run, apply, result, reconcile', async () => {
  const template = await commissions('template');
  const inCsv = BATCH_COLUMNS.filter((column) => column !== 'expected_amount_major');
  expect([template.code, template.stdout]).toEqual([0, `\uFEFF${inCsv.join(',')}\r\n`]);

  const [a, b, c, d] = await withAmounts([8395, 'EUR'], [123_450, 'EUR'], [5980, 'JPY'], [700, 'EUR']);
  // As Excel in German saves "CSV UTF-8": a mark, semicolons, decimal commas, dates with dots, its own names.
  const german = [
    'Provisions-ID;Partner;Bezahlt am;Betrag;Währung;reason',
    `${a};Müller;01.10.2026;83,95;EUR;Oktober`,
    `${b};"=HYPERLINK(""http://x"")";01.10.2026;1.234,50;EUR;Oktober`,
    `${c};Sato;25.10.2026;5980;JPY;Oktober`,
    `${d};Schmidt;01.10.2026;7,01;EUR;Oktober`,
  ];
  const path = inDirectory('Auszahlung.csv');
  await writeFile(path, `\uFEFF${german.join('\r\n')}\r\n`);
  const names = { commission_id: 'Provisions-ID', paid_at: 'Bezahlt am' };
  const mapped = (more: object) =>
    Object.entries({ ...names, ...more }).flatMap(([column, name]) => ['--map', `${column}=${name}`]);
  const flags = [
    ...mapped({ expected_amount: 'Betrag', expected_currency: 'Währung' }),
    ...['--action', 'pay', '--timezone', 'Europe/Berlin'],
  ];

  const before = lastRequest();
  const dryRun = ['apply', path, ...flags, '--dry-run'];
  const dry = await commissions(...dryRun, '--json', '--result', inDirectory('dry.csv'));
  expect(dry.code, dry.stderr).toBe(3);
  expect(dry.stderr).toContain('not read: the column "Partner"');
  expect(readDocument('commissions-dry-run', dry.stdout).totals).toEqual([
    { would: 'change', currency: 'EUR', action: 'pay', requests: 2, amount_minor: 8395 + 123_450 },
    { would: 'conflict', currency: 'EUR', action: 'pay', requests: 1, amount_minor: 700 },
    { would: 'change', currency: 'JPY', action: 'pay', requests: 1, amount_minor: 5980 },
  ]);
  expect(putsSince(before)).toBe(0);
  const people = await commissions(...dryRun);
  expect(people.stdout).toMatch(/│ 5 +│ [0-9a-f-]+ │ +7\.00 EUR │ conflict +│ expected the amount/);
  expect(people.stdout).toContain('mark paid at 2026-10-01 00:00 +02:00; it is unpaid now');
  expect(people.stdout).toMatch(/│ EUR +│ pay +│ change +│ +2 │ +1,318\.45 EUR │/);

  const applied = await commissions('apply', path, ...flags, '--wait', '--result', inDirectory('done.csv'));
  expect(applied.code, applied.stderr).toBe(3);
  expect(applied.stderr).toMatch(/: 3 sent now \(3 applied, 1 conflict\)$/m);
  expect(applied.stdout).toMatch(/│ 5 +│ \d+ +│ [0-9a-f-]+ │ [^│]+ │ +7\.00 EUR │/);
  const september = '2026-09-30T22:00:00.000Z';
  const paid = await Promise.all([a, b, c, d].map((id) => paidAt(id ?? '')));
  expect(paid).toEqual([september, september, '2026-10-24T22:00:00.000Z', null]);

  // Their own rows, in their own spelling, which no spreadsheet runs.
  const result = (await readFile(inDirectory('done.csv'), 'utf8')).split('\r\n');
  expect(result[0]).toBe(
    '\uFEFFProvisions-ID;Partner;Bezahlt am;Betrag;Währung;reason;result_state;result_outcome;result_paid_at;result_paid_at_local;result_amount;result_currency',
  );
  expect(result[1]).toBe(
    `${a};Müller;01.10.2026;83,95;EUR;Oktober;applied;marked paid at 2026-10-01 00:00 +02:00;2026-09-30T22:00:00Z;2026-10-01 00:00 +02:00;83,95;EUR`,
  );
  expect(result[2]).toContain(`;"'=HYPERLINK(""http://x"")";01.10.2026;1.234,50;EUR;Oktober;applied;`);
  expect(result[2]).toMatch(/;1234,50;EUR$/);
  expect(result[3]).toMatch(/;applied;.*;2026-10-24T22:00:00Z;2026-10-25 00:00 \+02:00;5980;JPY$/);
  expect(result[4]).toMatch(
    /;conflict;expected the amount 7\.01 EUR, but it is 7\.00 EUR: nothing was sent;;;7,00;EUR$/,
  );
  expect((await readFile(inDirectory('dry.csv'), 'utf8')).split('\r\n')[4]).toMatch(/;conflict;expected/);

  // Programs get whole numbers under a name that says their unit; a program may count in another one.
  const inCents = ['status', c ?? '', '--json'];
  const named = await commissionsWith({ AFFILIATE_AMOUNT_UNIT: 'cent' }, ...inCents);
  expect(readAs(requestsDocument('cent'), named.stdout).requests).toMatchObject([
    { amount_cent: 5980, currency: 'JPY' },
  ]);

  // The result is the payout file again: what is in it was asked for before, and the books agree with the program.
  const applyDone = ['apply', inDirectory('done.csv'), ...flags, '--wait', '--result'];
  const again = await commissions(...applyDone, inDirectory('done.csv'));
  expect([again.code, again.stdout]).toEqual([2, '']);
  expect(again.stderr).toContain('is the payout file itself');
  const sent = lastRequest();
  const repeated = await commissions(...applyDone, inDirectory('2.csv'));
  expect(repeated.stderr).toContain('4 of 4 were asked for before: not queued again');
  // A second apply does not look like a second payment.
  expect(repeated.stderr).toMatch(/^0 sent now; 3 applied before, 1 conflict before$/m);
  expect(repeated.stdout).toMatch(/│ EUR +│ pay +│ applied before +│ +2 │ 1,318\.45 EUR │/);
  const queued = await commissions('apply', inDirectory('done.csv'), ...flags);
  expect(queued.stderr).toMatch(/^nothing was queued; 3 applied before, 1 conflict before$/m);
  expect(repeated.stderr).toMatch(/line 5: request \d+ asked for this and ended as conflict/);
  expect((await readFile(inDirectory('2.csv'), 'utf8')).split('\r\n').slice(0, 4)).toEqual(
    result.slice(0, 4).map((line) => line.replace(';applied;', ';applied;applied before: ')),
  );
  expect(lastRequest()).toBe(sent);
  expect(putsSince(before)).toBe(3);
  await writeFile(inDirectory('Bücher.csv'), [...result.slice(0, 4)].join('\r\n'));
  const maps = mapped({ amount: 'Betrag', currency: 'Währung' });
  const foreseen = await commissions('reconcile', inDirectory('dry.csv'), ...maps);
  expect([foreseen.code, foreseen.stdout]).toEqual([2, '']);
  expect(foreseen.stderr).toContain(
    'is the result of a dry run, which paid nothing: give the --result of apply',
  );
  const own = ['reconcile', inDirectory('Bücher.csv'), ...maps, '--timezone', 'Europe/Berlin', '--json'];
  const books = await commissions(...own);
  expect(books.code, books.stdout).toBe(0);
  await writeFile(inDirectory('Später.csv'), `commission_id,paid_at\n${a},02.10.2026\n`);
  const later = await commissions('reconcile', inDirectory('Später.csv'), '--timezone', 'Europe/Berlin');
  expect(later.stdout).toMatch(/│ 2026-10-02 00:00 \+02:00 │ 2026-10-01 00:00 \+02:00 │/);
  const match = (currency: string, commissions: number, sum: number) => ({
    ...{ currency, finding: 'match', commissions },
    ...{ books_paid_minor: sum, program_paid_minor: sum, difference_minor: 0 },
  });
  expect(readDocument('commissions-reconcile', books.stdout).totals).toEqual([
    match('EUR', 2, 131_845),
    match('JPY', 1, 5980),
  ]);
});

test('the result file of a payment provider pays what arrived, and the run says how many rows it left out', async () => {
  const [arrived = '', failed = ''] = await withAmounts([1100, 'USD'], [2200, 'USD']);
  const path = inDirectory('provider result.csv');
  const rows = [`${arrived},2027-02-01T12:00:00Z,Completed`, `${failed},2027-02-01T12:00:00Z,Failed`];
  await writeFile(path, `Payouts of October\nUnique ID,Time,Status\n${rows.join('\n')}\n`);
  const map = ['--map', 'commission_id=Unique ID', '--map', 'paid_at=Time'];
  const before = lastRequest();

  const apply = ['apply', path, ...map, '--action', 'pay'];
  for (const args of [
    [...apply, '--wait', '--skip-invalid'],
    ['reconcile', path, ...map],
  ]) {
    const { code, stdout, stderr } = await commissions(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      'the column "Status" may say which rows were paid ("Completed", "Failed"): give --only "Status"=VALUE',
    );
  }
  expect(lastRequest()).toBe(before);

  const done = inDirectory('provider done.csv');
  for (const flags of [['--dry-run'], ['--wait', '--result', done]]) {
    const run = await commissions(...apply, '--only', 'Status=Completed', ...flags);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/^1 of 2 rows left out by --only$/m);
  }
  expect([await paidAt(arrived), await paidAt(failed)]).toEqual(['2027-02-01T12:00:00.000Z', null]);
  const [, first, second] = (await readFile(done, 'utf8')).split('\r\n');
  expect([first, second]).toEqual([
    `${rows[0]},applied,marked paid at 2027-02-01T12:00:00Z,2027-02-01T12:00:00Z,1100,USD`,
    `${rows[1]},left_out,left out by --only,,,`,
  ]);

  // As books: the provider's file with the same condition, and ours, which says of each row what became of it.
  for (const args of [[path, '--only', 'Status=Completed'], [done]]) {
    const books = await commissions('reconcile', ...args, ...map, '--json');
    expect(books.code, books.stderr).toBe(0);
    expect(readDocument('commissions-reconcile', books.stdout).rows).toMatchObject([
      { commission_id: arrived, finding: 'amount_not_compared' },
    ]);
  }
  const wrong = await commissions('reconcile', path, '--only', 'Status');
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('It must be COLUMN=VALUE as in your file'),
  ]);
});

test('an English day in Excel: what is unpaid, filled in, applied, handed back as a workbook', async () => {
  const [a, b] = await withAmounts([4990, 'USD'], [8400, 'USD']);
  expect((await commissions('due', a ?? '', b ?? '', '--at', '2026-02-01T00:00:00Z', '--wait')).code).toBe(0);
  const made = await commissions('payable', '-o', inDirectory('payouts.xlsx'));
  expect(made.code, made.stderr).toBe(0);
  const template = readSheet(await readFile(inDirectory('payouts.xlsx')));
  const rowOf = (id: string | undefined) =>
    [...template].find(([, { value }]) => value === id)?.[0].slice(1) ?? 'none';
  // Who is paid, since when it is due, and the amount as a number.
  expect([...'ABCDEFGHIJKLMNO'].map((letter) => template.get(`${letter}1`)?.value).join()).toBe(
    'affiliate_name,affiliate_email,payout_email,wise_email,due_date,payout_id,commission_id,action,paid_at,expected_paid_at,expected_amount_major,expected_currency,even_if_refunded,reason,idempotency_key',
  );
  const cells = ['B', 'E', 'H', 'J', 'K', 'L'].map((letter) => template.get(`${letter}${rowOf(b)}`));
  expect(cells.map((cell) => cell?.value)).toEqual([
    expect.stringContaining('@'),
    String(Date.UTC(2026, 1, 1) / 86_400_000 + 25_569),
    ...['pay', 'unpaid', '84', 'USD'],
  ]);
  expect([cells[1], cells[4]].map((cell) => cell?.format)).toEqual(['yyyy-mm-dd', '#,##0.00']);
  expect(made.stderr).toMatch(/^written: \S+payouts\.xlsx \(\d+ rows: .*\d USD/m);
  expect((await commissions('template', '-o', inDirectory('payouts.xlsx'))).stderr).toContain(
    'is there already',
  );

  // As a person leaves it: a date that Excel knows, an amount that it keeps as 84, and columns of their own.
  const columns = 'commission_id,action,paid_at,expected_paid_at,expected_amount,expected_currency';
  const header = [...columns.split(','), 'Payee'];
  const day = new Date('2026-10-01T00:00:00Z');
  const rows = [
    [a ?? '', 'pay', day, 'unpaid', 49.9, 'USD', '=SUM(A1:A9)'],
    [b ?? '', 'pay', day, 'unpaid', 84, 'USD', 'Jane'],
  ];
  const path = inDirectory('october.xlsx');
  await writeFile(path, await writeWorkbook({ header, rows }));
  const flags = ['--timezone', 'America/New_York'];
  const doubtful = await commissions('apply', path, ...flags, '--dry-run');
  expect(doubtful.code).toBe(2);
  expect(doubtful.stderr).toContain(
    'line 3: expected_amount "84" has no decimals, and others of the file do: it is 0.84 USD, or 84.00 USD',
  );
  const done = inDirectory('done.xlsx');
  const inMajor = ['apply', path, ...flags, '--unit', 'major'];
  const applied = await commissions(...inMajor, '--wait', '--json', '--result', done);
  expect(applied.code, applied.stderr).toBe(0);
  expect(readDocument('commissions-requests', applied.stdout).totals).toEqual([
    { state: 'applied', currency: 'USD', action: 'pay', requests: 2, amount_minor: 4990 + 8400 },
  ]);
  expect(await paidAt(a ?? '')).toBe('2026-10-01T04:00:00.000Z');

  const result = readSheet(await readFile(done));
  const line = (row: number) =>
    [...'ABCDEFGHIJKLM'].map((letter) => result.get(`${letter}${row}`)?.value ?? '');
  expect(line(1).slice(6)).toEqual(
    'Payee,result_state,result_outcome,result_paid_at,result_paid_at_local,result_amount,result_currency'.split(
      ',',
    ),
  );
  expect(line(2)).toEqual([
    ...[a, 'pay', '46296', 'unpaid', '49.9', 'USD', '=SUM(A1:A9)'],
    ...['applied', 'marked paid at 2026-10-01 00:00 -04:00', '2026-10-01T04:00:00Z'],
    ...['2026-10-01 00:00 -04:00', '49.9', 'USD'],
  ]);
  expect([result.get('C2')?.format, result.get('L3')?.format]).toEqual(['yyyy-mm-dd', '#,##0.00']);
  expect([...result.values()].some(({ isFormula }) => isFormula)).toBe(false);

  // The same rows as CSV are the same requests.
  const october = [columns, `${a},pay,10/1/2026,unpaid,49.90,USD`, `${b},pay,10/1/2026,unpaid,84.00,USD`];
  await writeFile(inDirectory('october.csv'), october.join('\n'));
  const english = [...flags, '--locale', 'en-US', '--wait'];
  const same = await commissions('apply', inDirectory('october.csv'), ...english);
  expect(same.stderr).toContain('2 of 2 were asked for before');
  const maps = ['--map', 'amount=result_amount', '--map', 'currency=result_currency'];
  const books = await commissions('reconcile', done, ...flags, ...maps, '--csv');
  expect(books.code, books.stderr).toBe(0);
  expect(books.stdout.split('\r\n')[0]).toBe(
    'line,commission_id,finding,books_paid_at,program_paid_at,books_amount_minor,program_amount_minor,books_currency,program_currency,accepted',
  );
});

test('a day in Berlin: Excel with two mistakes, dry run, applied twice, one taken back, the books, who was paid', async () => {
  const inBerlin = (...args: string[]) => commissionsWith({ DISPLAY_TIMEZONE: 'Europe/Berlin' }, ...args);
  const ofDates = ['--timezone', 'Europe/Berlin'];
  // Of each kind several: not every affiliate has a payout address.
  const kinds = [
    [8292, 'CHF'],
    [1250, 'CHF'],
    [5980, 'SEK'],
    [700, 'CHF'],
  ] as const;
  const ids = await withAmounts(...[1, 2, 3, 4].flatMap(() => kinds));
  expect((await inBerlin('due', ...ids, '--at', '2026-02-01T00:00:00Z', '--wait')).code).toBe(0);
  const path = inDirectory('november.xlsx');
  expect((await inBerlin('payable', '-o', path)).code).toBe(0);

  // Three are paid: at the beginning of a day of Berlin, in the last hour of its month, and in the first of the next.
  const sheet = readSheet(await readFile(path));
  const column = (name: string) =>
    [...sheet].find(([cell, { value }]) => /^[A-Z]+1$/.test(cell) && value === name)?.[0].slice(0, -1);
  const amountOf = (id: string) => {
    const row = [...sheet].find(([, { value }]) => value === id)?.[0].replace(/\D+/, '');
    return Number(sheet.get(`${column('expected_amount_major')}${row}`)?.value);
  };
  const [a = '', b = '', c = '', d = ''] = kinds.map((_, kind) =>
    ids.find((id, index) => index % kinds.length === kind && !Number.isNaN(amountOf(id))),
  );
  expect([a, b, c, d].map(amountOf)).toEqual([82.92, 12.5, 59.8, 7]);
  const header = ['commission_id', 'action', 'paid_at', 'expected_amount_major', 'expected_currency'];
  const unknown = '00000000-0000-4000-8000-000000000000';
  const rows = [
    [a, 'pay', '2026-11-27', amountOf(a), 'CHF'],
    [b, 'pay', '2026-11-30 23:30', amountOf(b), 'CHF'],
    [c, 'pay', '2026-12-01 00:30', amountOf(c), 'SEK'],
    [d, 'pay', '2026-11-27', 7.01, 'CHF'],
    [unknown, 'pay', '2026-11-27', 1.5, 'CHF'],
  ];
  await writeFile(path, await writeWorkbook({ header, rows }));

  const before = lastRequest();
  const dry = await inBerlin('apply', path, ...ofDates, '--dry-run');
  expect(dry.code, dry.stderr).toBe(3);
  expect(dry.stdout).toMatch(/│ 5 +│ .*conflict +│ expected the amount 7\.01 CHF, but it is 7\.00 CHF/);
  expect(dry.stdout).toMatch(/│ 6 +│ .*not_found +│/);
  expect(putsSince(before)).toBe(0);

  const applied = await inBerlin('apply', path, ...ofDates, '--wait');
  expect(applied.code, applied.stderr).toBe(3);
  expect(applied.stdout).toContain('marked paid at 2026-11-27 00:00 +01:00');
  expect(applied.stdout).not.toContain('2026-11-26T23');
  expect(await paidAt(a)).toBe('2026-11-26T23:00:00.000Z');
  expect(putsSince(before)).toBe(3);
  const again = await inBerlin('apply', path, ...ofDates, '--wait');
  expect(again.stdout + again.stderr).toContain('0 sent now; 3 applied before');
  expect(putsSince(before)).toBe(3);

  expect((await inBerlin('unpay', b, '--wait')).code).toBe(0);
  const old = await inBerlin('apply', path, ...ofDates, '--wait');
  expect(old.stdout).toMatch(/paid by request \d+, taken back by \d+, unpaid now/);
  expect(putsSince(before)).toBe(4);
  expect(await paidAt(b)).toBe(null);

  // The provider transferred two, of one another amount; it says nothing of the one that was taken back.
  const provider = inDirectory('provider.csv');
  const lines = [`${a};27.11.2026;82,92;CHF`, `${c};01.12.2026 00:30;59,90;SEK`];
  await writeFile(provider, `Unique ID;Date;Netto;Einheit\n${lines.join('\n')}\n`);
  const names = ['commission_id=Unique ID', 'paid_at=Date'].flatMap((name) => ['--map', name]);
  const sums = ['amount=Netto', 'currency=Einheit'].flatMap((name) => ['--map', name]);
  const blind = await inBerlin('reconcile', provider, ...ofDates, ...names);
  expect(blind.stdout).not.toMatch(/│ match/);
  expect(blind.stdout + blind.stderr).toContain('no amount was compared of 2 commissions');
  const books = await inBerlin('reconcile', provider, ...ofDates, ...names, ...sums);
  expect(books.code, books.stderr).toBe(3);
  expect(books.stdout).toMatch(new RegExp(`${c}.*59\\.90 SEK.*59\\.80 SEK`));

  const paid = await inBerlin('paid', '--month', '2026-11');
  expect([paid.code, paid.stderr]).toEqual([0, '']);
  expect(paid.stdout).toMatch(/│ +CHF +│ +1 │ +82\.92 CHF │/);
  expect(paid.stdout).not.toContain('SEK');
  expect((await inBerlin('paid', '--month', '2026-12')).stdout).toMatch(/│ +SEK +│ +1 │ +59\.80 SEK │/);
});

test('the totals keep apart what is paid, taken back and made payable', async () => {
  const [paid, back] = await withAmounts([980, 'GBP'], [2990, 'GBP']);
  expect((await commissions('pay', back ?? '', '--at', '2026-10-01T12:00:00Z', '--wait')).code).toBe(0);
  const path = inDirectory('three.csv');
  const rows = [`${back},unpay,,`, `${paid},due,,2026-09-01T00:00:00Z`, `${paid},pay,2026-10-01T12:00:00Z,`];
  await writeFile(path, `commission_id,action,paid_at,due_at\n${rows.join('\n')}\n`);
  const applied = await commissions('apply', path, '--wait', '--json');
  expect(readDocument('commissions-requests', applied.stdout).totals).toEqual([
    { currency: 'GBP', action: 'pay', state: 'applied', requests: 1, amount_minor: 980 },
    { currency: 'GBP', action: 'unpay', state: 'applied', requests: 1, amount_minor: 2990 },
    { currency: 'GBP', action: 'due', state: 'applied', requests: 1, amount_minor: 980 },
  ]);
});

test('a result that cannot be written is refused before anything is paid, and leaves nothing behind', async () => {
  const [a] = await withAmounts([100, 'USD']);
  const path = inDirectory('one.csv');
  await writeFile(path, `commission_id,action,paid_at\n${a},pay,2026-10-01T00:00:00Z\n`);
  const before = lastRequest();
  const wrong: [string[], RegExp][] = [
    [['--result', inDirectory('nowhere/out.csv')], /cannot write .*: there is no such directory/],
    [['--result', inDirectory('out.pdf')], /must end in \.csv or \.xlsx/],
    [['--timezone', 'Berlin'], /the name of a time zone, such as Europe\/Berlin/],
    [['--locale', 'xx-nothing'], /such as de or en-US/],
    [['--map', 'comission_id=x'], /COLUMN is one of commission_id/],
  ];
  for (const [flags, message] of wrong) {
    const run = await commissions('apply', path, '--wait', ...flags);
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(message);
  }
  expect(lastRequest()).toBe(before);
  expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('a --wait that Ctrl-C stops writes what is known by then: what has not ended is pending', async () => {
  const [done = '', open = ''] = await withAmounts([1200, 'USD'], [3400, 'USD']);
  const header = 'commission_id,action,paid_at';
  const row = (id: string) => `${id},pay,2026-10-01T12:00:00Z`;
  const [first, both, result] = ['first.csv', 'both.csv', 'stopped.csv'].map(inDirectory);
  if (first === undefined || both === undefined || result === undefined) throw new TypeError('no path');
  await writeFile(first, `${header}\n${row(done)}\n`);
  await writeFile(both, `${header}\n${row(done)}\n${row(open)}\n`);
  expect((await commissions('apply', first, '--wait')).code).toBe(0);
  // With every affiliate known, no commission needs another request to show whose account it is of.
  const environment = {
    DATABASE_URL: database.url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
  };
  expect((await runCli(['sync', 'affiliates'], { ...environment, API_RATE_LIMIT: 'none' })).code).toBe(0);
  // The only request that the limit allows is that of the dry run.
  const limited = { ...environment, API_RATE_LIMIT: '1/3600' };
  await runCli(['commissions', 'apply', both, '--dry-run'], limited);
  const applying = spawnCli(['commissions', 'apply', both, '--wait', '--result', result], limited);
  const stderr: string[] = [];
  applying.stderr.on('data', (chunk: Buffer) => stderr.push(chunk.toString()));
  const ended = once(applying, 'close');
  const claimed = 'select from commission_updates where claimed_by is not null';
  await expect.poll(async () => (await database.pool.query(claimed)).rowCount).toBe(1);
  applying.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(stderr.join('')).toMatch(
    /^written: .*stopped\.csv\naffiliate-mirror: stopped by Ctrl-C: 1 applied, 1 pending; those pending stay queued: /m,
  );
  const [, ...lines] = (await readFile(result, 'utf8')).trim().split(/\r?\n/);
  expect(lines).toEqual([
    `${row(done)},applied,applied before: marked paid at 2026-10-01T12:00:00Z,2026-10-01T12:00:00Z,1200,USD`,
    `${row(open)},pending,waits its turn,,,`,
  ]);
  expect((await commissions('cancel', open)).code).toBe(0);
});

test('a result that can be written no more hides nothing of what was paid', async () => {
  const [a = ''] = await withAmounts([990, 'EUR']);
  const path = inDirectory('one.csv');
  await writeFile(path, `commission_id,action,paid_at\n${a},pay,2026-10-01T12:00:00Z\n`);
  const result = inDirectory('one-done.csv');
  const client = await database.pool.connect();
  try {
    // It waits for this once the result is opened, and meanwhile something else takes its place.
    await client.query('begin; lock table mirror.commission_updates in access exclusive mode');
    const applied = commissions('apply', path, '--wait', '--result', result);
    await expect
      .poll(async () => (await readdir(directory)).some((name) => name.startsWith('.one-done.csv.')))
      .toBe(true);
    await mkdir(result);
    await client.query('commit');
    const { code, stdout, stderr } = await applied;
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`│ ${a} .*│ applied │ marked paid at 2026-10-01T12:00:00Z`));
    expect(stderr).toMatch(
      /^affiliate-mirror: all was done but the result: cannot write \S+one-done\.csv: EISDIR.*\n\S+: 1 sent now \(1 applied\)\n$/m,
    );
    expect(await paidAt(a)).toBe('2026-10-01T12:00:00.000Z');
    expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
  } finally {
    client.release(true);
  }
});
