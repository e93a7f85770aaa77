// A file that says what became of its rows, such as the result file of a payment provider: the user says which of them
// count as paid.

import { expect, test } from 'vitest';
import { writeWorkbook } from '../../../src/cli/output/table-writer.ts';
import { readBooksFile } from '../../../src/payments/files/books-file.ts';
import { PLAIN_FILE } from '../../../src/payments/files/file-options.ts';
import { readPayouts } from './read-payouts.ts';

const idOf = (row: number) => `${row}b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11`;
const AT = '2026-10-01T12:00:00Z';
const OPTIONS = {
  action: 'pay',
  renamed: new Map([
    ['commission_id', 'Unique ID'],
    ['paid_at', 'Time'],
  ]),
} as const;

/** Returns a provider's result with these statuses. */
const resultOf = (statuses: readonly string[], name = 'Status') =>
  [`Unique ID,Time,${name}`, ...statuses.map((status, row) => `${idOf(row)},${AT},${status}`)].join('\n');

const only = (...conditions: readonly (readonly [string, string])[]) =>
  conditions.map(([column, value]) => ({ column, value }));

test('a status refuses a payout file and books, until it is said which rows are meant', async () => {
  const text = resultOf(['Completed', 'Failed', 'Completed', 'Returned', 'Failed']);
  const problem =
    'the column "Status" may say which rows were paid ("Completed", "Failed", "Returned"): give --only "Status"=VALUE for each value that says so';
  const payouts = await readPayouts(text, OPTIONS);
  expect([payouts.words, payouts.rows]).toEqual([[`file: ${problem}`], []]);
  const books = await readBooksFile(Buffer.from(text), { ...PLAIN_FILE, ...OPTIONS });
  expect(books.problems).toEqual([{ line: null, problem }]);
});

test('--only reads the rows that say so, in every form of file, and counts the others', async () => {
  const options = { ...OPTIONS, only: only(['STATUS', 'completed']) };
  const statuses = ['Completed', 'Failed', 'Completed ', ''];
  const files = [
    resultOf(statuses),
    await writeWorkbook({
      header: ['Unique ID', 'Time', 'Status'],
      rows: statuses.map((status, row) => [idOf(row), AT, status]),
    }),
  ];
  for (const file of files) {
    const { rows, words, table } = await readPayouts(file, options);
    expect([words, rows.map(({ request }) => request.commission_id)]).toEqual([[], [idOf(0), idOf(2)]]);
    expect(table.notes.at(-1)).toBe('2 of 4 rows left out by --only');
    const books = await readBooksFile(Buffer.from(file), { ...PLAIN_FILE, ...options });
    expect([books.problems, books.rows.length, books.notes.at(-1)]).toEqual([[], 2, table.notes.at(-1)]);
  }
});

test('of several values of a column any will do, of several columns each has to hold', async () => {
  const text = resultOf(['Completed,SEPA', 'Sent,SEPA', 'Sent,Wallet', 'Failed,SEPA'], 'Status,Method');
  const conditions = only(['Status', 'Completed'], ['Status', 'Sent'], ['Method', 'SEPA']);
  const { rows, words } = await readPayouts(text, { ...OPTIONS, only: conditions });
  expect([words, rows.map(({ line }) => line)]).toEqual([[], [2, 3]]);
});

test.each([
  [
    'a first try that failed is no contradiction to the second one, nor is what is wrong with it',
    [resultOf(['Failed', 'Completed']).replaceAll(idOf(1), idOf(0)), 'x,never,Failed'],
    [],
    [3],
  ],
  [
    'a row that cannot be taken apart is not left out: it is not known what it says',
    [resultOf(['Completed', 'Failed']), `${idOf(2)},${AT}`],
    [expect.stringMatching(/^4: has 2 cells where the header has 3/)],
    [2],
  ],
])('%s', async (_, lines, problems, read) => {
  const options = { ...OPTIONS, only: only(['Status', 'Completed']) };
  const { rows, words } = await readPayouts(lines.join('\n'), options);
  expect(words).toEqual(problems);
  if (problems.length === 0) expect(rows.map(({ line }) => line)).toEqual(read);
});

test.each([
  [
    only(['Statuss', 'Completed']),
    /^1: there is no column "Statuss" for --only: the columns are "Unique ID", "Time", "Status"$/,
  ],
  [only(['Status', 'Compleet']), /^file: --only leaves none of its 2 rows$/],
])('a condition that fits nothing is refused: %j', async (conditions, problem) => {
  const { words, rows } = await readPayouts(resultOf(['Completed', 'Failed']), {
    ...OPTIONS,
    only: conditions,
  });
  expect([words, rows]).toEqual([[expect.stringMatching(problem)], []]);
});

test.each(['Payment status', 'payoutState', 'Zustand', 'Ergebnis'])(
  'so does a column that is called %s',
  async (name) => {
    const { words } = await readPayouts(resultOf(['ok', 'ok'], name), OPTIONS);
    expect(words).toEqual([expect.stringContaining(`"${name}" may say which rows were paid ("ok")`)]);
  },
);

test.each([
  ['the column is called otherwise', resultOf(['CA', 'pending'], 'Region')],
  ['the status is blank', resultOf(['', ''])],
  ['the row with a status has no date of a payment', `Unique ID,Time,Status\n${idOf(1)},,Failed`],
])('books in which %s are read as they are', async (_, text) => {
  const { problems } = await readBooksFile(Buffer.from(text), { ...PLAIN_FILE, ...OPTIONS });
  expect(problems).toEqual([]);
});

test('a row that takes a payment back may say that it was returned', async () => {
  const text = `commission_id,action,paid_at,Status\n${idOf(0)},unpay,,Returned\n${idOf(1)},pay,${AT},`;
  expect((await readPayouts(text)).words).toEqual([]);
});

test('a result of our own is a payout file and books again: what failed in it is asked for, and is not paid', async () => {
  const states = ['applied', 'failed', 'pending', 'left_out', 'conflict'];
  const rows = states.map((state, row) => `${idOf(row)},pay,${AT},${state},"rejected, failed",,,EUR`);
  const header =
    'commission_id,action,paid_at,result_state,result_outcome,result_paid_at,result_amount_minor,result_currency';
  const text = [header, ...rows].join('\n');
  const payouts = await readPayouts(text);
  expect([payouts.words, payouts.rows.length]).toEqual([[], states.length]);
  const books = await readBooksFile(Buffer.from(text));
  expect(books.problems).toEqual([]);
  expect(books.rows.map(({ paid_at }) => paid_at)).toEqual([AT, null, null, null]);

  // A new due date says nothing of a payment, and what was taken back is unpaid.
  const others = [`${idOf(6)},unpay,,applied,,,,EUR`, `${idOf(7)},due,,applied,,,,EUR`];
  const more = await readBooksFile(Buffer.from([header, ...others].join('\n')));
  expect([more.problems, more.rows.map(({ line, paid_at }) => [line, paid_at])]).toEqual([[], [[2, null]]]);
});
