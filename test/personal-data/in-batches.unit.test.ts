// Reading a table so many rows at a time: every row once, whatever the number of rows.

import { expect, test } from 'vitest';
import { inBatches } from '../../src/personal-data/in-batches.ts';

test.each([
  [0, [0]],
  [2, [2]],
  [3, [3, 0]],
  [4, [3, 1]],
  [6, [3, 3, 0]],
])('%i rows come in batches of three, and each once', async (count, sizes) => {
  const all = Array.from({ length: count }, (_, place) => ({ id: place + 1 }));
  const limit = 3;
  const read = async (after: number) => ({ rows: all.filter(({ id }) => id > after).slice(0, limit) });
  const batches: (readonly { id: number }[])[] = [];
  for await (const rows of inBatches({ first: 0, limit }, read)) batches.push(rows);
  expect(batches.map((rows) => rows.length)).toEqual(sizes);
  expect(batches.flat()).toEqual(all);
});
