// What a comparison of the books leaves noted: one that left out more does not hide what another one found.

import { beforeEach, expect, test } from 'vitest';
import { type Comparison, noteComparison } from '../../../src/commissions/books/note-comparison.ts';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { type BooksStatus, readBooks } from '../../../src/reports/read-books.ts';
import { createTestDatabase } from '../../support/database.ts';

let db: Database;

beforeEach(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

/** Returns what the status says of the books. */
async function booksNow(): Promise<BooksStatus | undefined> {
  const { rows } = await readBooks({ db, mirrorSchema: 'mirror' });
  return rows[0];
}

const SEPTEMBER = '2026-09-01T00:00:00Z';
const OCTOBER = '2026-10-01T00:00:00Z';

function note(since: Comparison['since'], differing: number): Promise<void> {
  return noteComparison(db, { books: 'payment_ledger', since, compared: 9, differing });
}

test.each([
  ['everything showed', null, 'everything', null],
  ['a part showed', OCTOBER, 'the same part', OCTOBER],
  ['a part showed', OCTOBER, 'more', SEPTEMBER],
  ['a part showed', OCTOBER, 'everything', null],
] as const)('what $0 is over once $2 shows no difference', async (_, first, __, second) => {
  await note(first, 2);
  expect(await booksNow()).toMatchObject({
    differing: 2,
    differ_since: expect.any(String),
    differ_in: expect.any(String),
  });
  await note(second, 0);
  expect(await booksNow()).toMatchObject({ differing: 0, differ_since: null, differ_in: null });
});

test.each([
  ['everything', null, OCTOBER],
  ['a part', SEPTEMBER, OCTOBER],
] as const)('what %s showed stays while only less was compared since', async (_, first, second) => {
  await note(first, 2);
  const found = await booksNow();
  await note(second, 0);
  await note(second, 1);
  expect(await booksNow()).toEqual(found);
});

test('a part that differs is noted where nothing differed before', async () => {
  await note(null, 0);
  await note(OCTOBER, 1);
  expect(await booksNow()).toMatchObject({ differing: 1 });
});

test('books that still differ have done so since the first comparison that showed it', async () => {
  await note(null, 2);
  const first = await booksNow();
  await note(null, 3);
  expect(await booksNow()).toMatchObject({ differing: 3, differ_since: first?.differ_since });
});
