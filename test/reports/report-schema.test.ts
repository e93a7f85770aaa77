// The schema of the reports: which views it holds, that each explains itself, and that none shows what is gone.

import { expect, test } from 'vitest';
import { drawEntities } from '../../tools/picture/draw-entities.ts';
import { createTestDatabase } from '../support/database.ts';
import { BLOCKS } from '../support/read-docs.ts';
import { storeEvents, storeRows } from './store-rows.ts';

const database = await createTestDatabase();
await storeRows(database.pool);
await storeEvents(database.pool);

async function read(query: string): Promise<Record<string, unknown>[]> {
  return (await database.pool.query<Record<string, unknown>>(query)).rows;
}

async function viewNames(): Promise<string[]> {
  const rows = await read(
    `select relname from pg_class where relnamespace = 'mirror_reports'::regnamespace order by relname`,
  );
  return rows.map(({ relname }) => String(relname));
}

async function namesOfSingleRows(): Promise<string[]> {
  const rows = await read(
    `select relname from pg_class
     where relnamespace = 'mirror_reports'::regnamespace and obj_description(oid, 'pg_class') ~ 'One row\\.$'`,
  );
  return rows.map(({ relname }) => String(relname));
}

test('every view and every column has a comment, and every view declares its key, or that it has one row', async () => {
  expect(
    await read(`
      select relname, attname from pg_class
      left join pg_attribute on attrelid = pg_class.oid and attnum > 0
      where relnamespace = 'mirror_reports'::regnamespace
        and (obj_description(pg_class.oid, 'pg_class') is null or col_description(attrelid, attnum) is null)`),
  ).toEqual([]);
  const keyed = await read(`
    select distinct relname from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
    where relnamespace = 'mirror_reports'::regnamespace and col_description(attrelid, attnum) ~* 'primary key\\.'
    order by relname`);
  const single = await namesOfSingleRows();
  expect([...keyed.map(({ relname }) => String(relname)), ...single].toSorted()).toEqual(await viewNames());
  for (const view of single) {
    expect(await read(`select count(*) as rows from mirror_reports.${view}`), view).toEqual([{ rows: 1 }]);
  }
});

test('a declared key names one row, and a declared reference names a column that is there', async () => {
  const columns = await read(`
    select relname as view, attname as name, col_description(attrelid, attnum) as words
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
    where relnamespace = 'mirror_reports'::regnamespace`);
  const places = columns.map(({ view, name }) => `${view}.${name}`);
  for (const { words } of columns) {
    for (const [, target] of String(words).matchAll(/Refers to (\w+\.\w+)\./g)) {
      expect(places).toContain(target);
    }
  }
  const single = await namesOfSingleRows();
  for (const view of (await viewNames()).filter((name) => !single.includes(name))) {
    const key = columns
      .filter((column) => column['view'] === view && /primary key\./i.test(String(column['words'])))
      .map(({ name }) => name);
    const twice = await read(
      `select ${key.join(', ')} from mirror_reports.${view} group by ${key.join(', ')} having count(*) > 1`,
    );
    expect(twice, view).toEqual([]);
  }
});

test('no view shows a row that is gone from the program', async () => {
  for (const view of await viewNames()) {
    const rows = await read(`select to_jsonb(shown)::text as row from mirror_reports.${view} shown`);
    expect(rows.length, view).toBeGreaterThan(0);
    for (const { row } of rows) expect(row, view).not.toMatch(/: "gone"/);
  }
});

test('the entity diagram of the page is current (else: npm run docs)', async () => {
  const drawn = BLOCKS.find(({ page, text }) => page === 'docs/analysts.md' && text.startsWith('erDiagram'));
  expect(drawn?.text).toBe(await drawEntities(database.pool, 'mirror_reports'));
});
