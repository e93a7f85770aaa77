// The whole of finance's day: a template, filled in with Excel, tried, applied, handed back, and compared with the
// books; in a German and an English file, to the cent. What the program wrote as .xlsx is read here by another reader.

import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestsDocument } from '../../src/cli/documents/commissions.ts';
import { writeWorkbook } from '../../src/cli/output/table-writer.ts';
import { BATCH_COLUMNS } from '../../src/commissions/files/batch-file.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readAs, readDocument } from '../schemas/read-document.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type CliRun, runCli, spawnCli } from '../support/run-cli.ts';
import { readSheet, writeExcelWorkbook } from '../support/workbook-parts.ts';

let database: TestDatabase;
let sandbox: TestSandbox;
let directory: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await runSandbox(database.pool, { referrals: 600 });
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-finance-'));
  return () => sandbox.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

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
  expect([template.code, template.stdout]).toEqual([0, `\uFEFF${BATCH_COLUMNS.join(',')}\r\n`]);

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
  const flags = [
    ...[
      '--map',
      'commission_id=Provisions-ID',
      '--map',
      'paid_at=Bezahlt am',
      '--map',
      'expected_amount=Betrag',
    ],
    ...['--map', 'expected_currency=Währung', '--action', 'pay', '--timezone', 'Europe/Berlin'],
  ];

  const before = lastRequest();
  const dry = await commissions(
    'apply',
    path,
    ...flags,
    '--dry-run',
    '--json',
    '--result',
    inDirectory('dry.csv'),
  );
  expect(dry.code, dry.stderr).toBe(3);
  expect(dry.stderr).toContain('not read: the column "Partner"');
  expect(readDocument('commissions-dry-run', dry.stdout).totals).toEqual([
    { would: 'change', currency: 'EUR', action: 'pay', requests: 2, amount_minor: 8395 + 123_450 },
    { would: 'conflict', currency: 'EUR', action: 'pay', requests: 1, amount_minor: 700 },
    { would: 'change', currency: 'JPY', action: 'pay', requests: 1, amount_minor: 5980 },
  ]);
  expect(putsSince(before)).toBe(0);
  const people = await commissions('apply', path, ...flags, '--dry-run');
  expect(people.stdout).toMatch(/│ 5 +│ [0-9a-f-]+ │ +7\.00 EUR │ conflict +│ expected the amount/);
  expect(people.stdout).toMatch(/│ EUR +│ pay +│ change +│ +2 │ +1,318\.45 EUR │/);

  const applied = await commissions('apply', path, ...flags, '--wait', '--result', inDirectory('done.csv'));
  expect(applied.code, applied.stderr).toBe(3);
  expect([
    await paidAt(a ?? ''),
    await paidAt(b ?? ''),
    await paidAt(c ?? ''),
    await paidAt(d ?? ''),
  ]).toEqual(['2026-09-30T22:00:00.000Z', '2026-09-30T22:00:00.000Z', '2026-10-24T22:00:00.000Z', null]);

  // Their own rows, in their own spelling, which no spreadsheet runs.
  const result = (await readFile(inDirectory('done.csv'), 'utf8')).split('\r\n');
  expect(result[0]).toBe(
    '\uFEFFProvisions-ID;Partner;Bezahlt am;Betrag;Währung;reason;result_state;result_outcome;result_paid_at;result_amount;result_currency',
  );
  expect(result[1]).toBe(
    `${a};Müller;01.10.2026;83,95;EUR;Oktober;applied;marked paid at 2026-09-30T22:00:00Z;2026-09-30T22:00:00Z;83,95;EUR`,
  );
  expect(result[2]).toContain(`;"'=HYPERLINK(""http://x"")";01.10.2026;1.234,50;EUR;Oktober;applied;`);
  expect(result[2]).toMatch(/;1234,50;EUR$/);
  expect(result[3]).toMatch(/;applied;.*;2026-10-24T22:00:00Z;5980;JPY$/);
  expect(result[4]).toMatch(
    /;conflict;expected the amount 7\.01 EUR, but it is 7\.00 EUR: nothing was sent;;7,00;EUR$/,
  );
  expect((await readFile(inDirectory('dry.csv'), 'utf8')).split('\r\n')[4]).toMatch(/;conflict;expected/);

  // Programs get whole numbers under a name that says their unit; a program may count in another one.
  const listed = await commissions('status', c ?? '', '--csv');
  expect(listed.stdout.split('\r\n')[0]).toContain(',amount_minor,currency,');
  const cents = await commissionsWith({ AFFILIATE_AMOUNT_UNIT: 'cent' }, 'status', c ?? '');
  expect(cents.stdout).toMatch(/│ +59\.80 JPY │/);
  const named = await commissionsWith({ AFFILIATE_AMOUNT_UNIT: 'cent' }, 'status', c ?? '', '--json');
  expect(readAs(requestsDocument('cent'), named.stdout).requests).toMatchObject([
    { amount_cent: 5980, currency: 'JPY' },
  ]);

  // The result is the payout file again: what is in it was asked for before, and the books agree with the program.
  const again = await commissions(
    'apply',
    inDirectory('done.csv'),
    ...flags,
    '--wait',
    '--result',
    inDirectory('done.csv'),
  );
  expect([again.code, again.stdout]).toEqual([2, '']);
  expect(again.stderr).toContain('is the payout file itself');
  const repeated = await commissions(
    'apply',
    inDirectory('done.csv'),
    ...flags,
    '--wait',
    '--result',
    inDirectory('2.csv'),
  );
  expect(repeated.stderr).toContain('4 of 4 were asked for before');
  expect((await readFile(inDirectory('2.csv'), 'utf8')).split('\r\n').slice(0, 4)).toEqual(
    result.slice(0, 4),
  );
  expect(putsSince(before)).toBe(3);
  await writeFile(inDirectory('Bücher.csv'), [...result.slice(0, 4)].join('\r\n'));
  const books = await commissions(
    ...[
      'reconcile',
      inDirectory('Bücher.csv'),
      '--map',
      'commission_id=Provisions-ID',
      '--map',
      'paid_at=Bezahlt am',
    ],
    ...['--map', 'amount=Betrag', '--map', 'currency=Währung', '--timezone', 'Europe/Berlin', '--json'],
  );
  expect(books.code, books.stdout).toBe(0);
  expect(readDocument('commissions-reconcile', books.stdout).totals).toEqual([
    {
      currency: 'EUR',
      finding: 'match',
      commissions: 2,
      books_paid_minor: 131_845,
      program_paid_minor: 131_845,
      difference_minor: 0,
    },
    {
      currency: 'JPY',
      finding: 'match',
      commissions: 1,
      books_paid_minor: 5980,
      program_paid_minor: 5980,
      difference_minor: 0,
    },
  ]);
});

test('a sheet of a workbook that is not read is named, as a payout file and as books', async () => {
  const [id = ''] = await withAmounts([4990, 'USD']);
  const sheetOf = (rows: readonly (readonly string[])[]) => ({
    rows: rows
      .map(
        (row) => `<row>${row.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`,
      )
      .join(''),
  });
  const payout = sheetOf([
    ['commission_id', 'paid_at'],
    [id, '2026-10-01T12:00:00Z'],
  ]);
  const path = inDirectory('two-sheets.xlsx');
  await writeFile(path, writeExcelWorkbook([payout, sheetOf([['by hand']])], []));
  for (const args of [
    ['apply', path, '--action', 'pay', '--dry-run'],
    ['reconcile', path],
  ]) {
    expect((await commissions(...args)).stderr).toMatch(/^not read: the sheet "Tabelle2"$/m);
  }
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
    [...apply, '--dry-run'],
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
      { commission_id: arrived, finding: 'match' },
    ]);
  }
  const wrong = await commissions('reconcile', path, '--only', 'Status');
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('It must be COLUMN=VALUE as in your file'),
  ]);
});

test('CSV that people open begins with a byte order mark, and what programs read does not', async () => {
  const [id = ''] = await withAmounts([100, 'USD']);
  await writeFile(
    inDirectory('plain.ndjson'),
    `${JSON.stringify({ commission_id: id, paid_at: '2026-10-01T12:00:00Z' })}\n`,
  );
  const plain = inDirectory('plain.ndjson');
  const wrote = [
    await commissions('payable', '-o', inDirectory('mark-payable.csv')),
    await commissions('template', '-o', inDirectory('mark-template.csv')),
    await commissions(
      'apply',
      plain,
      '--action',
      'pay',
      '--dry-run',
      '--result',
      inDirectory('mark-result.csv'),
    ),
  ];
  expect(wrote.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '', '']);
  for (const name of ['payable', 'template', 'result']) {
    expect(await readFile(inDirectory(`mark-${name}.csv`), 'utf8')).toMatch(/^\uFEFFcommission_id,/);
  }
  expect((await commissions('template')).stdout).toMatch(/^\uFEFFcommission_id,/);
  expect((await commissions('payable', '--format', 'csv')).stdout).toMatch(/^commission_id,/);
  expect((await commissions('apply', plain, '--action', 'pay', '--dry-run', '--csv')).stdout).toMatch(
    /^line,/,
  );
});

test('an English day in Excel: what is unpaid, filled in, applied, handed back as a workbook', async () => {
  const [a, b] = await withAmounts([4990, 'USD'], [8400, 'USD']);
  expect((await commissions('due', a ?? '', b ?? '', '--at', '2026-02-01T00:00:00Z', '--wait')).code).toBe(0);
  const made = await commissions('payable', '-o', inDirectory('payouts.xlsx'));
  expect(made.code, made.stderr).toBe(0);
  const template = readSheet(await readFile(inDirectory('payouts.xlsx')));
  const rowOf = (id: string | undefined) =>
    [...template].find(([, { value }]) => value === id)?.[0].slice(1) ?? 'none';
  expect(['B', 'E', 'F', 'G'].map((letter) => template.get(`${letter}${rowOf(b)}`)?.value)).toEqual([
    'pay',
    'unpaid',
    '84.00',
    'USD',
  ]);
  expect((await commissions('template', '-o', inDirectory('payouts.xlsx'))).stderr).toContain(
    'is there already',
  );

  // As a person leaves it: a date that Excel knows, an amount that it keeps as 84, and columns of their own.
  const header = [
    'commission_id',
    'action',
    'paid_at',
    'expected_paid_at',
    'expected_amount',
    'expected_currency',
    'Payee',
  ];
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
  const applied = await commissions(
    'apply',
    path,
    ...flags,
    '--unit',
    'major',
    '--wait',
    '--json',
    '--result',
    done,
  );
  expect(applied.code, applied.stderr).toBe(0);
  expect(readDocument('commissions-requests', applied.stdout).totals).toEqual([
    { state: 'applied', currency: 'USD', action: 'pay', requests: 2, amount_minor: 4990 + 8400 },
  ]);
  expect(await paidAt(a ?? '')).toBe('2026-10-01T04:00:00.000Z');

  const result = readSheet(await readFile(done));
  const line = (row: number) =>
    [...'ABCDEFGHIJKL'].map((letter) => result.get(`${letter}${row}`)?.value ?? '');
  expect(line(1).slice(6)).toEqual([
    'Payee',
    'result_state',
    'result_outcome',
    'result_paid_at',
    'result_amount',
    'result_currency',
  ]);
  expect(line(2)).toEqual([
    ...[a, 'pay', '46296', 'unpaid', '49.9', 'USD', '=SUM(A1:A9)'],
    ...['applied', 'marked paid at 2026-10-01T04:00:00Z', '2026-10-01T04:00:00Z', '49.9', 'USD'],
  ]);
  expect([result.get('C2')?.format, result.get('K3')?.format]).toEqual(['yyyy-mm-dd', '#,##0.00']);
  expect([...result.values()].some(({ isFormula }) => isFormula)).toBe(false);

  // The same rows as CSV are the same requests.
  await writeFile(
    inDirectory('october.csv'),
    [
      'commission_id,action,paid_at,expected_paid_at,expected_amount,expected_currency',
      `${a},pay,10/1/2026,unpaid,49.90,USD`,
      `${b},pay,10/1/2026,unpaid,84.00,USD`,
    ].join('\n'),
  );
  const same = await commissions(
    'apply',
    inDirectory('october.csv'),
    ...flags,
    '--locale',
    'en-US',
    '--wait',
  );
  expect(same.stderr).toContain('2 of 2 were asked for before');
  const books = await commissions(
    'reconcile',
    done,
    ...flags,
    '--map',
    'amount=result_amount',
    '--map',
    'currency=result_currency',
    '--csv',
  );
  expect(books.code, books.stderr).toBe(0);
  expect(books.stdout.split('\r\n')[0]).toBe(
    'line,commission_id,finding,books_paid_at,program_paid_at,books_amount_minor,program_amount_minor,books_currency,program_currency',
  );
});

test('the totals keep apart what is paid, taken back and made payable', async () => {
  const [paid, back] = await withAmounts([980, 'GBP'], [2990, 'GBP']);
  expect((await commissions('pay', back ?? '', '--at', '2026-10-01T12:00:00Z', '--wait')).code).toBe(0);
  const path = inDirectory('three.csv');
  const rows = [`${back},unpay,,`, `${paid},due,,2026-09-01T00:00:00Z`, `${paid},pay,2026-10-01T12:00:00Z,`];
  await writeFile(path, `commission_id,action,paid_at,due_at\n${rows.join('\n')}\n`);
  const totals = (key: 'would' | 'state', of: string) => [
    { currency: 'GBP', action: 'pay', [key]: of, requests: 1, amount_minor: 980 },
    { currency: 'GBP', action: 'unpay', [key]: of, requests: 1, amount_minor: 2990 },
    { currency: 'GBP', action: 'due', [key]: of, requests: 1, amount_minor: 980 },
  ];
  const dry = await commissions('apply', path, '--dry-run', '--json');
  expect(readDocument('commissions-dry-run', dry.stdout).totals).toEqual(totals('would', 'change'));
  const people = await commissions('apply', path, '--dry-run');
  expect(people.stdout).toMatch(/│ currency │ action │ would +│ requests │ +amount │/);
  const result = inDirectory('three-done.csv');
  const applied = await commissions('apply', path, '--wait', '--json', '--result', result);
  expect(readDocument('commissions-requests', applied.stdout).totals).toEqual(totals('state', 'applied'));

  // Handed back as books, a new due date says nothing of a payment, and what was taken back is unpaid.
  const books = await commissions('reconcile', result, '--json');
  expect(books.code, books.stderr).toBe(0);
  expect(readDocument('commissions-reconcile', books.stdout).rows).toMatchObject([
    { line: 2, commission_id: back, finding: 'match', books_paid_at: null },
    { line: 4, commission_id: paid, finding: 'match', books_paid_at: '2026-10-01T12:00:00Z' },
  ]);
});

test('reconcile takes a row of a result as paid only where its payment succeeded, and --fix pays no refused one', async () => {
  const [good, refused] = await withAmounts([1500, 'USD'], [2500, 'USD']);
  const path = inDirectory('refused.csv');
  const rows = [`${good},pay,2027-03-01T12:00:00Z,1500,USD`, `${refused},pay,2027-03-01T12:00:00Z,9999,USD`];
  await writeFile(
    path,
    `commission_id,action,paid_at,expected_amount,expected_currency\n${rows.join('\n')}\n`,
  );
  const done = inDirectory('refused.xlsx');
  expect((await commissions('apply', path, '--wait', '--result', done)).code).toBe(3);
  const before = lastRequest();
  const map = ['--map', 'amount=result_amount_minor', '--map', 'currency=result_currency'];
  const books = await commissions('reconcile', done, ...map, '--fix', '--wait', '--json');
  expect(books.code, books.stderr).toBe(0);
  expect(books.stderr).not.toContain('result_state');
  expect(readDocument('commissions-reconcile', books.stdout).rows).toMatchObject([
    { commission_id: good, finding: 'match', books_paid_at: '2027-03-01T12:00:00Z' },
    { commission_id: refused, finding: 'match', books_paid_at: null },
  ]);
  expect(putsSince(before)).toBe(0);
  expect(await paidAt(refused ?? '')).toBeNull();

  // A row that somebody added below has no state: nobody knows that it was paid.
  const added = inDirectory('added.csv');
  const unknown = `${refused},2027-03-01T12:00:00Z,`;
  for (const states of [[`${good},2027-03-01T12:00:00Z,unchanged`, unknown], [unknown]]) {
    await writeFile(added, `commission_id,paid_at,result_state\n${states.join('\n')}\n`);
    expect((await commissions('reconcile', added, '--fix', '--wait')).code).toBe(0);
  }
  expect(putsSince(before)).toBe(0);
});

test('a result that cannot be written is refused before anything is paid, and leaves nothing behind', async () => {
  const [a] = await withAmounts([100, 'USD']);
  const path = inDirectory('one.csv');
  await writeFile(path, `commission_id,action,paid_at\n${a},pay,2026-10-01T00:00:00Z\n`);
  const before = lastRequest();
  const wrong: [string[], RegExp][] = [
    [['--result', inDirectory('nowhere/out.csv')], /cannot write .*: there is no such directory/],
    [['--result', inDirectory('out.pdf')], /must end in \.csv or \.xlsx/],
    [['--dry-run'], /'--dry-run' cannot be used with option '--wait'/],
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
  expect((await runCli(['sync', 'affiliates'], environment)).code).toBe(0);
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
    /^written: .*stopped\.csv\naffiliate-mirror: stopped by Ctrl-C: 1 applied, 1 pending; what is pending stays queued: /m,
  );
  const [, ...lines] = (await readFile(result, 'utf8')).trim().split(/\r?\n/);
  expect(lines).toEqual([
    `${row(done)},applied,marked paid at 2026-10-01T12:00:00Z,2026-10-01T12:00:00Z,1200,USD`,
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
      /^affiliate-mirror: all was done but the result: cannot write \S+one-done\.csv: EISDIR.*\n\S+: 1 applied\n$/m,
    );
    expect(await paidAt(a)).toBe('2026-10-01T12:00:00.000Z');
    expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
  } finally {
    client.release(true);
  }
});
