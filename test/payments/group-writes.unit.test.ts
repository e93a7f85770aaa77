// What becomes of many items that are written together: the writing is a function of the test, its refusals are errors
// as the driver throws them.

import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { makeGroupWrites, type WriteItems, writeTogether } from '../../src/payments/group-writes.ts';

const refused = new DatabaseError('value too long', 0, 'error');
const lost = new Error('Connection terminated unexpectedly');

/** Returns a writing that refuses the negative items and loses its connection at zero, and what it was asked to write. */
function makeWrite() {
  const calls: (readonly number[])[] = [];
  const write: WriteItems<number, string> = async (items) => {
    calls.push(items);
    for (const item of items) {
      if (item < 0) throw refused;
      if (item === 0) throw lost;
    }
    return items.map((item) => `wrote ${item}`);
  };
  return { calls, write };
}

const resultOf = (item: number) => {
  if (item > 0) return { status: 'fulfilled', value: `wrote ${item}` };
  return { status: 'rejected', reason: item < 0 ? refused : lost };
};

test.each([
  ['in one go', [1, 2, 3], [1, 2, 3], [[1, 2, 3]]],
  [
    'one by one where one is refused, which fails alone',
    [1, -2, 3],
    [1, -2, 3],
    [[1, -2, 3], [1], [-2], [3]],
  ],
  ['not again where the database cannot be reached', [1, 0, 3], [0, 0, 0], [[1, 0, 3]]],
  [
    'up to the one at which the database is lost',
    [1, -2, 0, 3],
    [1, -2, 0, 0],
    [[1, -2, 0, 3], [1], [-2], [0]],
  ],
  ['once where one alone is refused', [-1], [-1], [[-1]]],
])('items that are written together are written %s', async (_, items, results, expected) => {
  const { calls, write } = makeWrite();
  expect(await writeTogether(write, items)).toEqual(results.map(resultOf));
  expect(calls).toEqual(expected);
});

test('an item that is refused by itself ends as is said for it, with the reason', async () => {
  const { write } = makeWrite();
  const ended = await writeTogether(write, [1, -2, 3], (item, reason) => `${item}: ${reason.message}`);
  expect(ended).toEqual([resultOf(1), { status: 'fulfilled', value: '-2: value too long' }, resultOf(3)]);
});

test('a group is written at once for a single item, and gathers the next ones meanwhile, in order and up to its size', async () => {
  const { calls, write } = makeWrite();
  const add = makeGroupWrites(write, 3);
  expect(await Promise.all([1, 2, 3, 4, 5].map(add))).toEqual([1, 2, 3, 4, 5].map((n) => `wrote ${n}`));
  expect(calls).toEqual([[1], [2, 3, 4], [5]]);
  expect(await add(6)).toBe('wrote 6');
  expect(calls.at(-1)).toEqual([6]);
});

test('a group fails the item that is refused, not its neighbours, and later ones are written', async () => {
  const { write } = makeWrite();
  const add = makeGroupWrites(write, 10);
  expect(await Promise.allSettled([1, 2, -3, 4].map(add))).toEqual([1, 2, -3, 4].map(resultOf));
  await expect(add(0)).rejects.toBe(lost);
  expect(await add(5)).toBe('wrote 5');
});
