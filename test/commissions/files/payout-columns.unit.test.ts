// Columns and files that are not quite what was expected: read where it is clear what is meant, else named.

import { describe, expect, test } from 'vitest';
import { writeWorkbook } from '../../../src/cli/output/table-writer.ts';
import type { BatchOptions } from '../../../src/commissions/files/batch-file.ts';
import { readBooksFile } from '../../../src/commissions/files/books-file.ts';
import type { RawCell } from '../../../src/commissions/files/raw-table.ts';
import { readTableFile } from '../../../src/commissions/files/table-file.ts';
import { writeZip } from '../../support/workbook-parts.ts';
import { readPayouts } from './read-payouts.ts';

const A = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const AT = '2026-10-01T00:00:00Z';

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

test('a row that was left out of a batch is not compared, whatever is in it', async () => {
  const books = await readBooksFile(
    Buffer.from(`commission_id,paid_at,result_state\n${A},${AT},applied\nbad,never,Left_Out`),
  );
  expect([books.problems, books.rows.map(({ line }) => line)]).toEqual([[], [2]]);
});

test('where the command has no --map, a column is to be renamed', async () => {
  const columns = {
    known: ['commission_id'],
    required: ['commission_id'],
    guards: [],
    filled: new Map(),
    only: [],
  };
  const problemsOf = async (header: string) =>
    (await readTableFile(Buffer.from(`${header}\n${A}`), { ...columns, renamed: null })).problems;
  expect(await problemsOf('Provision')).toEqual([
    { line: 1, problem: 'the column commission_id is missing: rename it if it is one of "Provision"' },
  ]);
  expect((await problemsOf('commision_id'))[0]?.problem).toMatch(
    /if it is commission_id, rename it; if not,/,
  );
});

test('a header of which nothing is known is read column by column all the same', async () => {
  const { words } = await readPayouts(`Provisions-ID;Betrag, netto;Datum\n${A};1;${AT}`);
  expect(words[0]).toMatch(/--map commission_id=NAME if it is one of "Provisions-ID", "Betrag, netto"/);
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

test.each([
  'expected_amout',
  'Expected Ammount',
  'expectedamount',
  'expected_amuont',
  'piad_at',
  'Expected Amount (EUR)',
  'expected_amount_minor',
  'expected_curency',
  'paidat',
  'reson',
])('a column %s is refused, since it is likely one that is known', async (name) => {
  const { words, rows } = await readPayouts(`commission_id,action,${name}\n${A},unpay,x`);
  expect(words).toEqual([
    expect.stringMatching(/^1: unknown column ".*": if it is \w+, rename it or give --map/),
  ]);
  expect(rows).toEqual([]);
});

test.each([
  'expected_unpaid',
  'Expected Unpaid',
  'expected',
  'expectation' /* begins otherwise: it is read over */,
])('a column %s is refused where its name says that a row expects something', async (name) => {
  const { words } = await readPayouts(`commission_id,action,paid_at,${name}\n${A},pay,${AT},true`);
  const refusal = expect.stringMatching(
    /^1: unknown column ".*": what a row expects is in expected_paid_at, /,
  );
  expect(words).toEqual(name === 'expectation' ? [] : [refusal]);
});

test('a column that is one letter from a known one is no mistake where that one is there too', async () => {
  const { words } = await readPayouts(`commission_id,action,paid_at,paid_at2\n${A},pay,${AT},x`);
  expect(words).toEqual([]);
});

test('--map says what the file calls a column, in CSV, NDJSON and Excel', async () => {
  const options = {
    renamed: new Map([
      ['commission_id', 'Provisions-ID'],
      ['paid_at', 'bezahlt am'],
    ]),
    action: 'pay',
  } as const;
  const files = [
    `Provisions-ID;Bezahlt am\n${A};${AT}`,
    JSON.stringify({ 'Provisions-ID': A, 'bezahlt am': AT }),
    await workbook(['Provisions-ID', 'Bezahlt am'], [A, AT]),
  ];
  for (const file of files) {
    const { rows, words } = await readPayouts(file, options);
    expect([words, rows[0]?.request]).toMatchObject([[], { commission_id: A, action: 'pay', paid_at: AT }]);
  }
});

describe('a mapping, or an action for all rows, that does not fit the file is refused', () => {
  test.each<[string, string, Partial<BatchOptions>, RegExp]>([
    [
      'no such column',
      `id,action\n${A},unpay`,
      { renamed: new Map([['commission_id', 'ID-Nummer']]) },
      /there is no column "ID-Nummer" for commission_id: the columns are "id", "action"/,
    ],
    [
      'an action in the file',
      `commission_id,action\n${A},unpay`,
      { action: 'pay' },
      /has a column action already/,
    ],
    [
      'one column for two',
      `Ref,action\n${A},unpay`,
      {
        renamed: new Map([
          ['commission_id', 'Ref'],
          ['reason', 'ref'],
        ]),
      },
      /--map names the column "Ref" for both commission_id and reason: it can be only one/,
    ],
    ['no action', `commission_id,paid_at\n${A},${AT}`, {}, /column action is missing: give --action pay/],
    [
      'no commission',
      `id,action\n${A},unpay`,
      {},
      /column commission_id is missing: .*--map commission_id=NAME if it is one of "id"/,
    ],
  ])('%s', async (_, text, options, problem) => {
    expect((await readPayouts(text, options)).words).toEqual([expect.stringMatching(problem)]);
  });
});

describe('a file is named as what it is', () => {
  test.each<[string, () => Promise<Uint8Array> | Uint8Array, RegExp]>([
    [
      'an old workbook',
      () => Buffer.from('d0cf11e0a1b11ae1000000', 'hex'),
      /an old Excel workbook \(\.xls\)/,
    ],
    ['a broken workbook', () => writeZip({ '[Content_Types].xml': 'x' }), /the workbook cannot be read/],
    [
      'a workbook whose end is missing',
      async () => (await workbook(['a'], ['b'])).subarray(0, -200),
      /the file is damaged, or its end is missing \(.*\): get it once more/,
    ],
    ['nothing', () => Buffer.alloc(0), /the file is empty/],
    ['an archive', () => writeZip({ 'payouts.csv': 'x' }), /the workbook cannot be read/],
  ])('%s', async (_, makeBytes, problem) => {
    expect((await readPayouts(await makeBytes())).words).toEqual([expect.stringMatching(problem)]);
  });
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

test('JSON that is no object a line says so', async () => {
  const words = async (text: string) => (await readPayouts(text)).words;
  const pretty = JSON.stringify({ commission_id: A, action: 'unpay' }, null, 2);
  expect(await words(pretty)).toEqual([
    expect.stringMatching(/^file: no line is a whole JSON object: .*jq -c \./),
  ]);
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

test("the file's own mark against formulas is no part of a cell", async () => {
  const text = (key: string) => `commission_id,action,idempotency_key\n${A},unpay,${key}`;
  const keys = await Promise.all(
    ["'=1+1", '=1+1', "''=1+1", "'quoted"].map(
      async (key) => (await readPayouts(text(key))).rows[0]?.request.idempotency_key,
    ),
  );
  expect(keys).toEqual(['=1+1', '=1+1', "'=1+1", "'quoted"]);
});
