// The SQL that is shown is the query that was run, whatever its values; a list read page by page has each row once.

import fc from 'fast-check';
import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { queryText, readFigure, readMemoized, readPage, reportView } from '../../src/reports/figure.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const reader = { db: database.db, mirrorSchema: 'mirror' };

/** What Postgres can hold, with what is hard to quote in it. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom("'", '\\', '"', '$1', '--', ';', ':a', '\n', '\n\n   ', 'E', '%', '$$'),
    }),
  )
  .map((one) => one.replaceAll('\u0000', ''));
const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text, { maxLength: 3 }));

test('the shown SQL gives what the query gave, whatever its values', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 4 }), async (values) => {
      const columns = values.map(
        (one, place) => sql`to_json(${one}::${typeOf(one)}) as ${sql.id(`c${place}`)}`,
      );
      const { rows, sql: said } = await readFigure(
        reader,
        sql`
        select ${sql.join(columns, sql`,\n          `)}`,
      );
      const again = await database.pool.query(said);
      expect(again.rows).toEqual(rows);
      expect(Object.values(again.rows[0])).toEqual(values);
    }),
    { numRuns: 60 },
  );
});

function typeOf(one: unknown) {
  if (Array.isArray(one)) return sql`text[]`;
  if (typeof one === 'boolean') return sql`boolean`;
  return typeof one === 'number' ? sql`bigint` : sql`text`;
}

test('the shown SQL begins at the left, names its schemas and ends as a statement', () => {
  const said = queryText(
    reader.db,
    sql`
      select id
      from ${reportView(reader, 'run_log')}
      where state = ${"it's"}
        and id < ${5}`,
  );
  expect(said).toBe(`select id
from "mirror_reports".run_log
where state = 'it''s'
  and id < 5;`);
});

test('a list that is read page by page has each row once, and ends where it ends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 5 }), async (rows, most) => {
      const found: number[] = [];
      let beyond: number | null = null;
      let pages = 0;
      do {
        const page: { rows: readonly { n: number }[]; next: number | null } = await readPage(
          reader,
          { beyond, most, keyOf: ({ n }: { n: number }) => n },
          (after, limit) => sql<{ n: number }>`
            select n from generate_series(1, ${rows}::int) as n where n > ${after ?? 0} order by n limit ${limit}`,
        );
        found.push(...page.rows.map(({ n }) => n));
        beyond = page.next;
        pages += 1;
      } while (beyond !== null);
      expect(found).toEqual(Array.from({ length: rows }, (_, place) => place + 1));
      expect(pages).toBe(Math.max(1, Math.ceil(rows / most)));
    }),
    { numRuns: 40 },
  );
});

test('a slow figure is memoized, with its moment, for each database by itself', async () => {
  await database.pool.query('create sequence taken');
  /** Gives another number each time that it is really run. */
  const slow: RawBuilder<{ n: number }> = sql`select nextval('taken') as n, pg_sleep(0.1)`;
  const first = await readMemoized(reader, slow);
  expect(await readMemoized(reader, slow)).toEqual(first);
  expect(Date.parse(first.asOf ?? '')).toBeLessThanOrEqual(Date.now());
  const other = await readMemoized({ ...reader, db: makeDatabase(database.pool) }, slow);
  expect(other.rows[0]?.n).not.toBe(first.rows[0]?.n);
});
