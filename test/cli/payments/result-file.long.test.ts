// The file to hand back, of a batch that is larger than a call takes as arguments.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withLifetime } from '../../../src/cli/lifetime.ts';
import { openResultFile } from '../../../src/cli/payments/result-file.ts';
import { MONEY } from '../../../src/contract/money.ts';
import { readBatchFile } from '../../../src/payments/files/batch-file.ts';
import { makeDirectory } from '../../support/directory.ts';

const idOf = (row: number) => `0b2a9f3e-6a5e-4c51-9d6a-${row.toString(16).padStart(12, '0')}`;

test('the result of a hundred and fifty thousand rows is written, those that are left out with their reasons', async () => {
  const directory = await makeDirectory();
  const path = join(directory, 'done.csv');
  // Every other row has no action that is known, and is left out.
  const rows = Array.from({ length: 150_000 }, (_, row) => `${idOf(row)},unpay\n${idOf(150_000 + row)},undo`);
  const batch = await readBatchFile(Buffer.from(['commission_id,action', ...rows].join('\n')));
  expect([batch.rows.length, batch.problems.length]).toEqual([150_000, 150_000]);

  const outcomes = batch.rows.map(({ line }) => ({
    line,
    state: 'unchanged',
    outcome: 'is unpaid already: nothing was sent',
    paid_at: null,
    amount: 1_250,
    currency: 'eur',
  }));
  await withLifetime(async (lifetime) => {
    const write = await openResultFile(path, '-', lifetime);
    await write(batch, outcomes, MONEY.minor);
    return 0;
  });

  const lines = (await readFile(path, 'utf8')).trimEnd().split('\r\n');
  expect(lines).toHaveLength(300_001);
  expect(lines[1]).toBe(`${idOf(0)},unpay,unchanged,is unpaid already: nothing was sent,,1250,EUR`);
  expect(lines[2]).toMatch(/,undo,left_out,/);
});
