// Readings that take long are kept, and shared by whoever asks meanwhile; quick and failed ones are not.

import { type RawBuilder, sql } from 'kysely';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { keepReading, keepResult } from '../../src/reports/kept-reading.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query('create table readings (n int); create sequence taken');
});

const readerOf = (db: Database) => ({ db, mirrorSchema: 'mirror' });
/** Returns another number each time that it is really run. */
const slow: RawBuilder<{ n: number }> = sql`select nextval('taken') as n, pg_sleep(0.1)`;
const quick: RawBuilder<{ n: number }> = sql`select nextval('taken') as n`;

test('a slow reading is kept, with its moment, for each database by itself', async () => {
  const reader = readerOf(makeDatabase(database.pool));
  const first = await keepReading(reader, slow);
  const second = await keepReading(reader, slow);
  expect(second).toEqual(first);
  expect(Date.parse(first.asOf)).toBeLessThanOrEqual(Date.now());
  const other = await keepReading(readerOf(makeDatabase(database.pool)), slow);
  expect(other.rows[0]?.n).not.toBe(first.rows[0]?.n);
});

test('whoever asks while it is being read waits for that reading', async () => {
  const reader = readerOf(makeDatabase(database.pool));
  const both = await Promise.all([keepReading(reader, quick), keepReading(reader, quick)]);
  expect(both[0]).toEqual(both[1]);
});

test('a failed reading is not kept', async () => {
  const reader = readerOf(makeDatabase(database.pool));
  const failing: RawBuilder<{ n: number }> = sql`select n from later where pg_sleep(0.1) is not null`;
  const both = [keepReading(reader, failing), keepReading(reader, failing)];
  for (const one of both) await expect(one).rejects.toMatchObject({ code: '42P01' });
  await database.pool.query('create table later as select 7 as n');
  expect((await keepReading(reader, failing)).rows).toEqual([{ n: 7 }]);
});

test('a clock that is put back keeps no reading for longer', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const db = makeDatabase(database.pool);
  let taken = 0;
  const read = () =>
    keepResult(db, 'what is counted', async () => {
      vi.advanceTimersByTime(100);
      taken += 1;
      return taken;
    });
  expect(await read()).toBe(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(19_000);
  expect(await read()).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect(await read()).toBe(2);
});
