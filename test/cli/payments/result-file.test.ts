// The file to hand back, as books: what was written as money is read as the same money.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withLifetime } from '../../../src/cli/lifetime.ts';
import { openResultFile } from '../../../src/cli/payments/result-file.ts';
import { MONEY } from '../../../src/contract/money.ts';
import { readBatchFile } from '../../../src/payments/files/batch-file.ts';
import { readBooksFile } from '../../../src/payments/files/books-file.ts';
import { PLAIN_FILE } from '../../../src/payments/files/file-options.ts';
import { makeDirectory } from '../../support/directory.ts';

const idOf = (row: number) => `0b2a9f3e-6a5e-4c51-9d6a-${String(row).padStart(12, '0')}`;

/** Returns what the books have of a payout file, once its result was written and is read with the column of its amounts. */
async function readBack(
  form: 'csv' | 'xlsx',
  column: string,
  rows: readonly { readonly asked: string; readonly amount: number; readonly currency: string }[],
) {
  const directory = await makeDirectory();
  const path = join(directory, `done.${form}`);
  const payouts = rows.map(
    ({ asked, currency }, row) => `${idOf(row)};pay;2026-10-01T12:00:00Z;${asked};${currency}`,
  );
  const header = 'commission_id;action;paid_at;expected_amount;expected_currency';
  const batch = await readBatchFile(Buffer.from([header, ...payouts].join('\n')));
  expect(batch.problems).toEqual([]);
  const outcomes = batch.rows.map(({ line }, row) => ({
    line,
    state: 'applied',
    outcome: 'marked paid',
    paid_at: '2026-10-01T12:00:00Z',
    amount: rows[row]?.amount ?? null,
    currency: rows[row]?.currency ?? null,
  }));
  await withLifetime(async (lifetime) => {
    await (await openResultFile(path, '-', lifetime))(batch, outcomes, MONEY.minor);
    return 0;
  });
  const renamed = new Map([
    ['amount', column],
    ['currency', 'result_currency'],
  ]);
  const { problems, rows: books } = await readBooksFile(await readFile(path), {
    ...PLAIN_FILE,
    renamed,
  });
  return problems.length > 0 ? problems : books.map(({ amount, currency }) => [amount, currency]);
}

test.each(['csv', 'xlsx'] as const)('round amounts of a result are not read as cents: %s', async (form) => {
  const round = [
    { asked: '84.00', amount: 8400, currency: 'USD' },
    { asked: '100.00', amount: 10_000, currency: 'EUR' },
  ];
  const money = [
    [8400, 'USD'],
    [10_000, 'EUR'],
  ];
  expect(await readBack(form, 'result_amount', round)).toEqual(money);
  const mixed = [...round, { asked: '49.90', amount: 4990, currency: 'USD' }];
  expect(await readBack(form, 'result_amount', mixed)).toEqual([...money, [4990, 'USD']]);
});

test.each(['csv', 'xlsx'] as const)(
  'an amount of sixteen digits keeps the last of them: %s',
  async (form) => {
    const amount = Number.MAX_SAFE_INTEGER;
    const inMinor = { asked: String(amount), amount, currency: 'USD' };
    expect(await readBack(form, 'result_amount_minor', [inMinor])).toEqual([[amount, 'USD']]);
    const inMajor = { ...inMinor, asked: '90071992547409.91' };
    expect(await readBack(form, 'result_amount', [inMajor])).toEqual([[amount, 'USD']]);
  },
);
