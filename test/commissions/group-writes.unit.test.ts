// What becomes of many items that are written together: the writing is a function of the test, its refusals are errors
// as the driver throws them.

import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { makeGroupWrites, type WriteItems, writeTogether } from '../../src/commissions/group-writes.ts';

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

const wrote = (item: number) => ({ status: 'fulfilled', value: `wrote ${item}` });
const failed = (reason: unknown) => ({ status: 'rejected', reason });

describe('items that are written together', () => {
  test('are written in one go where none is refused', async () => {
    const { calls, write } = makeWrite();
    expect(await writeTogether(write, [1, 2, 3])).toEqual([wrote(1), wrote(2), wrote(3)]);
    expect(calls).toEqual([[1, 2, 3]]);
  });

  test('are written one by one where one is refused, which fails alone', async () => {
    const { calls, write } = makeWrite();
    expect(await writeTogether(write, [1, -2, 3])).toEqual([wrote(1), failed(refused), wrote(3)]);
    expect(calls).toEqual([[1, -2, 3], [1], [-2], [3]]);
  });

  test('all fail where the database cannot be reached, and nothing is tried again', async () => {
    const { calls, write } = makeWrite();
    expect(await writeTogether(write, [1, 0, 3])).toEqual([failed(lost), failed(lost), failed(lost)]);
    expect(calls).toEqual([[1, 0, 3]]);
  });

  test('fail from the one on at which the database is lost', async () => {
    const { calls, write } = makeWrite();
    expect(await writeTogether(write, [1, -2, 0, 3])).toEqual([
      wrote(1),
      failed(refused),
      failed(lost),
      failed(lost),
    ]);
    expect(calls).toEqual([[1, -2, 0, 3], [1], [-2], [0]]);
  });

  test('are not written twice where one alone is refused', async () => {
    const { calls, write } = makeWrite();
    expect(await writeTogether(write, [-1])).toEqual([failed(refused)]);
    expect(calls).toEqual([[-1]]);
  });
});

describe('a group', () => {
  test('is written at once for a single item, and gathers the next ones meanwhile, in order and up to its size', async () => {
    const { calls, write } = makeWrite();
    const add = makeGroupWrites(write, 3);
    expect(await Promise.all([1, 2, 3, 4, 5].map(add))).toEqual([1, 2, 3, 4, 5].map((n) => `wrote ${n}`));
    expect(calls).toEqual([[1], [2, 3, 4], [5]]);
    expect(await add(6)).toBe('wrote 6');
    expect(calls.at(-1)).toEqual([6]);
  });

  test('fails the item that is refused, not its neighbours, and later ones are written', async () => {
    const { write } = makeWrite();
    const add = makeGroupWrites(write, 10);
    const results = await Promise.allSettled([1, 2, -3, 4].map(add));
    expect(results).toEqual([wrote(1), wrote(2), failed(refused), wrote(4)]);
    await expect(add(0)).rejects.toBe(lost);
    expect(await add(5)).toBe('wrote 5');
  });
});
