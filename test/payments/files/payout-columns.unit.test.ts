// Columns and files that are not quite what was expected: read where it is clear what is meant, else named.

import { expect, test } from 'vitest';
import { writeWorkbook } from '../../../src/cli/output/table-writer.ts';
import type { BatchOptions } from '../../../src/payments/files/batch-file.ts';
import { readBooksFile } from '../../../src/payments/files/books-file.ts';
import type { RawCell } from '../../../src/payments/files/raw-table.ts';
import { readTableFile } from '../../../src/payments/files/table-file.ts';
import { writeZip } from '../../support/workbook-parts.ts';
import { readPayouts } from './read-payouts.ts';

const A = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const AT = '2026-10-01T00:00:00Z';

const ID_AND_TIME = new Map([
  ['commission_id', 'Provisions-ID'],
  ['paid_at', 'bezahlt am'],
]);
const TWICE = new Map([
  ['commission_id', 'Ref'],
  ['reason', 'ref'],
]);

const workbook = (...[header = [], ...rows]: readonly (readonly RawCell[])[]) =>
  writeWorkbook({ header: header.map(String), rows });

test('columns that are not known are not read, and are named', async () => {
  const { rows, table, words } = await readPayouts(
    `Name;commission_id;action;paid_at;Betrag\nx;${A};pay;${AT};83,95`,
  );
  expect([words, table.notes, rows.length]).toEqual([[], ['not read: the columns "Name", "Betrag"'], 1]);
  const books = await readBooksFile(Buffer.from(`Name;commission_id;paid_at\nx;${A};${AT}`));
  expect([books.problems, books.notes, books.rows.length]).toEqual([[], ['not read: the column "Name"'], 1]);
});

test('columns that our own commands add are not named, in a payout file or in books', async () => {
  const payees = 'affiliate_name,affiliate_email,payout_email,wise_email,due_date';
  const results = 'result_state,result_outcome,result_paid_at,result_amount,result_currency';
  const header = `${payees},commission_id,action,paid_at,expected_amount_major,expected_currency,Memo,${results}`;
  const row = `Jane,a@b.c,,,2026-10-01,${A},pay,${AT},84,EUR,x,applied,marked paid,${AT},84.00,EUR`;
  const { table, words } = await readPayouts(`${header}\n${row}`);
  expect([words, table.notes]).toEqual([[], ['not read: the column "Memo"']]);
  const books = await readBooksFile(Buffer.from(`${header}\n${row}`));
  expect([books.problems, books.notes]).toEqual([[], ['not read: the column "Memo"']]);
});

test('expected_amount_major is in the own unit of the currency, with decimals or without', async () => {
  const header = ['commission_id', 'action', 'paid_at', 'expected_amount_major', 'expected_currency'];
  const amounts = [
    [49.9, 'EUR', 4990],
    [84, 'EUR', 8400],
    [8292, 'JPY', 8292],
    [8.395, 'KWD', 8395],
  ] as const;
  const idOf = (index: number) => `${A.slice(0, -1)}${index}`;
  const rows = amounts.map(([amount, currency], index) => [idOf(index), 'pay', AT, amount, currency]);
  const { words, rows: read } = await readPayouts(await workbook(header, ...rows));
  expect(words).toEqual([]);
  expect(read.map(({ request }) => request.expected_amount)).toEqual(amounts.map(([, , minor]) => minor));
  // Beside whole numbers of the other column it cannot be told what those are.
  const both = `${header.join(',')},expected_amount\n${A},pay,${AT},84,EUR,`;
  expect((await readPayouts(`${both}8400`)).words).toEqual([
    expect.stringContaining('expected_amount "8400" has no decimals, and others of the file do'),
    expect.stringContaining('expected_amount and expected_amount_major are both given'),
  ]);
});

test('where the command has no --map, a column is to be renamed', async () => {
  const id = ['commission_id'];
  const columns = { known: id, required: id, guards: [], filled: new Map(), only: [], isOurs: () => false };
  const problemsOf = async (header: string) =>
    (await readTableFile(Buffer.from(`${header}\n${A}`), { ...columns, renamed: null })).problems;
  expect(await problemsOf('Provision')).toEqual([
    { line: 1, problem: 'the column commission_id is missing: rename it if it is one of "Provision"' },
  ]);
  expect((await problemsOf('commision_id'))[0]?.problem).toMatch(
    /if it is commission_id, rename it; if not,/,
  );
});

test('of a column that is missing it is said which columns there are', async () => {
  const missing = async (header: string) =>
    (await readPayouts(`${header}\n${header.replaceAll(/[^,]+/g, 'x')}`)).words;
  const found = 'if it is one of "Provisions-ID", "Datum"';
  expect(await missing('Provisions-ID,Datum')).toEqual([
    `1: the column commission_id is missing: give --map commission_id=NAME ${found}`,
    `1: the column action is missing: give --action pay where every row is one, or give --map action=NAME ${found}`,
  ]);
});

test.each(['expected_amout', 'piad_at', 'Expected Amount (EUR)', 'expected_amount_minor', 'paidat'])(
  'a column %s is refused, since it is likely one that is known',
  async (name) => {
    const { words, rows } = await readPayouts(`commission_id,action,${name}\n${A},unpay,x`);
    expect(words).toEqual([
      expect.stringMatching(/^1: unknown column ".*": if it is \w+, rename it or give --map/),
    ]);
    expect(rows).toEqual([]);
  },
);

test.each(['expected_unpaid', 'expected'])(
  'a column %s is refused where its name says that a row expects something',
  async (name) => {
    const { words } = await readPayouts(`commission_id,action,paid_at,${name}\n${A},pay,${AT},true`);
    expect(words).toEqual([
      expect.stringMatching(/^1: unknown column ".*": expectations of a row are in expected_paid_at, /),
    ]);
  },
);

test.each(['paid_at2', 'expectation'])('a column %s beside the known ones is no mistake', async (name) => {
  const { words } = await readPayouts(`commission_id,action,paid_at,${name}\n${A},pay,${AT},x`);
  expect(words).toEqual([]);
});

test('--map says what the file calls a column, in CSV and Excel', async () => {
  const options = { renamed: ID_AND_TIME, action: 'pay' } as const;
  const files = [
    `Provisions-ID;Bezahlt am\n${A};${AT}`,
    await workbook(['Provisions-ID', 'Bezahlt am'], [A, AT]),
  ];
  for (const file of files) {
    const { rows, words } = await readPayouts(file, options);
    expect([words, rows[0]?.request]).toMatchObject([[], { commission_id: A, action: 'pay', paid_at: AT }]);
  }
});

test.each<[string, Partial<BatchOptions>, RegExp]>([
  [
    'id',
    { renamed: new Map([['commission_id', 'Nr']]) },
    /no column "Nr" for commission_id: .* "id", "action"/,
  ],
  ['commission_id', { action: 'pay' }, /has a column action already/],
  [
    'Ref',
    { renamed: TWICE },
    /--map names the column "Ref" for both commission_id and reason: it can be only one/,
  ],
])(
  'a mapping, or an action for all rows, that does not fit the file is refused: %s',
  async (name, options, problem) => {
    const { words } = await readPayouts(`${name},action\n${A},unpay`, options);
    expect(words).toEqual([expect.stringMatching(problem)]);
  },
);

test.each<[string, () => Promise<Uint8Array> | Uint8Array, RegExp]>([
  ['an old workbook', () => Buffer.from('d0cf11e0a1b11ae1000000', 'hex'), /an old Excel workbook \(\.xls\)/],
  ['a broken workbook', () => writeZip({ '[Content_Types].xml': 'x' }), /the workbook cannot be read/],
  [
    'a workbook whose end is missing',
    async () => (await workbook(['a'], ['b'])).subarray(0, -200),
    /the file is damaged, or its end is missing \(.*\): get it once more/,
  ],
])('a file is named as what it is: %s', async (_, makeBytes, problem) => {
  expect((await readPayouts(await makeBytes())).words).toEqual([expect.stringMatching(problem)]);
});

test('values without a name of their column are refused, since they may be what a row expects', async () => {
  const refused = [expect.stringMatching(/^1: column D has values and no name: give it one, or empty it$/)];
  expect((await readPayouts(`commission_id,action,paid_at,,\n${A},pay,${AT},9999.99,\n`)).words).toEqual(
    refused,
  );
  expect((await readPayouts(`commission_id,action,paid_at,,\n${A},pay,${AT},,\n`)).words).toEqual([]);
  const bytes = await workbook(['commission_id', 'action', 'paid_at', ''], [A, 'pay', AT, 9999.99]);
  expect((await readPayouts(bytes)).words).toEqual(refused);
  const books = await readBooksFile(Buffer.from(`commission_id,paid_at,\n${A},${AT},a note\n`));
  expect([books.problems, books.rows.length]).toEqual([[], 1]);
});

test('what nobody sees in a name or a value is shown as its code', async () => {
  const { words } = await readPayouts(`commission_id,action\n${A}\u200b,unpay\n`);
  expect(words).toEqual([expect.stringContaining('\\u{200b}" is not a UUID')]);
});

test("Excel's own hint about the delimiter is no header", async () => {
  const { rows, words } = await readPayouts(
    `sep=;\ncommission_id;action\n${A};unpay\n${A.replace(/^0/, '1')};nonsense`,
  );
  expect(rows.map(({ line }) => line)).toEqual([3]);
  expect(words).toEqual([expect.stringMatching(/^4: unknown action/)]);
});

test('a workbook is read by its rows as Excel numbers them, without empty ones', async () => {
  const bytes = await workbook(
    ['commission_id', 'action', 'paid_at', 'note'],
    [null, null, null, null],
    [A, 'pay', AT, null],
    [null, null, null, 'Total'],
  );
  const { rows, words } = await readPayouts(bytes);
  expect(rows.map(({ line }) => line)).toEqual([3]);
  expect(words).toEqual([
    expect.stringMatching(/^4: commission_id is blank/),
    expect.stringMatching(/^4: action/),
  ]);
});
