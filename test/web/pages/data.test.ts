// The pages of what the mirror holds, and of the program's business over time.

import { beforeAll, describe, expect, test } from 'vitest';
import { formatBytes } from '../../../src/contract/format.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { readGrowth } from '../../../src/reports/read-growth.ts';
import { readStatus } from '../../../src/reports/read-status.ts';
import { chartsPage } from '../../../src/web/pages/charts.ts';
import { dataPage } from '../../../src/web/pages/data.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { storeFindings } from './store-findings.ts';
import { sectionOf, visit } from './visit.ts';

let database: TestDatabase;
let empty: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  empty = await createTestDatabase();
  await storeFindings(database.pool);
});

describe('data', () => {
  test('of a mirror with nothing in it says so of each part', async () => {
    const { html, text } = await visit(empty.pool, dataPage);
    expect(sectionOf(html, 'tables').rows.map((row) => row[1])).toEqual(['0', '0', '0', '0', '0', '0']);
    expect(text).toContain('No field differs');
    expect(text).toContain('None: every record that was read could be stored.');
    expect(text).toContain('Nothing was exported');
    expect(text).toContain('A delta does not see');
  });

  test('has the rows and differences that the command status has', async () => {
    const status = await readStatus({ db: makeDatabase(database.pool), mirrorSchema: 'mirror' });
    const { html } = await visit(database.pool, dataPage);
    expect(sectionOf(html, 'tables').rows.map(([table, rows, deleted]) => [table, rows, deleted])).toEqual(
      status.tables.map(({ table_name, rows, deleted }) => [table_name, String(rows), String(deleted)]),
    );
    const fields = sectionOf(html, 'drift').rows.map(([, field]) => field);
    expect(fields).toEqual(status.schema_drift.map(({ field }) => field));
    expect(fields).toHaveLength(2);
  });

  test('has the sizes and the growth that the command status has', async () => {
    const { pool } = await createTestDatabase();
    await pool.query(
      `insert into sync_runs (resource, mode, state, verified, finished_at)
       values ('referrals', 'full', 'succeeded', true, now() - interval '100 days')`,
    );
    await pool.query(
      `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
       select 'referrals', 'r' || n, 'updated', '{}', '{}', now(), now() - n * interval '1 hour' from generate_series(1, 480) n`,
    );
    const space = { source: 'limit', limitBytes: 1e9 } as const;
    const reader = { db: makeDatabase(pool), mirrorSchema: 'mirror' };
    const { growth } = await readGrowth({ ...reader, readSpace: async () => space });
    const { tables, bytes_per_year } = growth;
    const { html } = await visit(pool, dataPage, { space });
    const { rows, text } = sectionOf(html, 'growth');
    expect(rows.map(([table, , , , bytes]) => [table, bytes])).toEqual(
      tables.map(({ table_name, bytes }) => [table_name, formatBytes(bytes)]),
    );
    const history = rows.find(([table]) => table === 'record_history');
    expect(history?.[1]).toBe('480');
    expect(history?.[5]).toBe('5,840');
    expect(text).toContain(`gains ${formatBytes(bytes_per_year ?? 0)} a year, as measured since`);
    expect(text).toMatch(/\d+ MB are left of DATABASE_SIZE_LIMIT: (full on|enough for years)/);
  });

  test.each([
    [undefined, 'When its disk is full is not known: set DATABASE_SIZE_LIMIT'],
    [{ source: 'limit', limitBytes: 1 } as const, 'Nothing is left of DATABASE_SIZE_LIMIT'],
    [
      { source: 'file_system', freeBytes: 5e9 } as const,
      // At a rate that nobody knows yet, nothing can be said of when.
      'is known a day after everything was read first. 5.0 GB are left on the disk of DATA_DIR.',
    ],
  ])('with the space %j says what that means', async (space, words) => {
    const { html } = await visit(empty.pool, dataPage, space === undefined ? {} : { space });
    const { text } = sectionOf(html, 'growth');
    expect(text).toContain(words);
    expect(text).toContain('how fast it grows is known a day after everything was read first.');
  });

  test('counts what is new, what was rejected, and what was exported', async () => {
    const { pool } = await createTestDatabase();
    await storeFindings(pool);
    await pool.query(`update referrals set _first_seen_at = now() - interval '2 days'`);
    await pool.query(`update sales set _first_seen_at = now()`);
    const { html } = await visit(pool, dataPage);
    const tables = sectionOf(html, 'tables').rows;
    expect(tables.find(([table]) => table === 'referrals')?.slice(3, 5)).toEqual(['0', '1']);
    expect(tables.find(([table]) => table === 'sales')?.slice(3, 5)).toEqual(['1', '1']);
    expect(sectionOf(html, 'rejected').rows.map((row) => [row[0], row[1], row[4]])).toEqual([
      ['commissions', '1', 'outside a run'],
      ['referrals', '2', '3'],
    ]);
    expect(sectionOf(html, 'exports').rows[0]?.slice(0, 4)).toEqual([
      'referrals',
      '/var/exports',
      'changes',
      '12',
    ]);
  });
});

test('rejected records that were pruned are not said never to have been', async () => {
  const { pool } = await createTestDatabase();
  await pool.query(
    `insert into pruned_tables (table_name, keep_days, pruned_before, rows_deleted)
     values ('rejected_records', 30, '2026-03-01T00:00:00Z', 7)`,
  );
  const { html } = await visit(pool, dataPage);
  const { text } = sectionOf(html, 'rejected');
  expect(text).toContain('None is kept. Those from before 2026-03-01 00:00:00 were deleted by age.');
  expect(text).not.toContain('every record');
});

describe('charts', () => {
  test('of a mirror with nothing in it say so', async () => {
    const { text, html } = await visit(empty.pool, chartsPage);
    expect(html).not.toContain('<svg');
    expect(text).toContain('Nothing happened in these days');
    expect(text).toContain('The mirror knows no commission that is due');
  });

  test.each([
    [undefined, 30],
    ['30', 30],
    ['90', 90],
    ['365', 365],
    ['1e9', 30],
    ['31', 30],
  ])('for %s days have a point for each of %i days', async (days, points) => {
    const query = days === undefined ? {} : { days };
    const { html } = await visit(database.pool, chartsPage, { query });
    const { rows, html: funnel } = sectionOf(html, 'funnel');
    expect(rows).toHaveLength(points);
    const lines = [...funnel.matchAll(/<path class="line-[a-z]+" d="M([^"]+)"/g)];
    expect(lines).toHaveLength(3);
    for (const [, line = ''] of lines) expect(line.split('L')).toHaveLength(points);
    expect(funnel).toContain('aria-current="true"');
    expect(rows.at(-1)?.slice(1)).toEqual(['1', '0', '0']);
  });

  test('have a bar for each month with commissions, in each currency, and a row for each month', async () => {
    const { html } = await visit(database.pool, chartsPage);
    const due = sectionOf(html, 'due').html.split('<figure').slice(1);
    expect(due).toHaveLength(2);
    for (const chart of due) {
      expect(chart.match(/<g class="month">/g)).toHaveLength(15);
      expect(chart.split('<tbody>')[1]?.match(/<tr>/g)).toHaveLength(15);
      expect(chart.split('<svg class="plot"')[1]?.match(/<rect class="part part-/g)?.length).toBeGreaterThan(
        0,
      );
      expect(chart).not.toMatch(/NaN|Infinity|undefined|style=/);
    }
  });

  test('have the sums of commissions without a currency', async () => {
    const { pool } = await createTestDatabase();
    await storeFindings(pool);
    await pool.query("update commissions set currency = null where currency = 'EUR'");
    const { html } = await visit(pool, chartsPage);
    const month = new Date().toISOString().slice(0, 7);
    const rows = sectionOf(html, 'due').tables.map((table) => table.find(([name]) => name === month));
    expect(rows).toContainEqual([month, '3', '0', '0', '0', '3,702', '0']);
  });

  test('say of a month whose sum no number can hold that it is too large, and show all else', async () => {
    const { pool } = await createTestDatabase();
    await storeFindings(pool);
    await pool.query(
      `update commissions set amount = 9007199254740991, paid_at = now() where currency = 'EUR'`,
    );
    // One that is small enough still, beside the others.
    await pool.query(`update commissions set amount = 12, due_at = due_at - interval '100 days'
      where id = (select max(id) from commissions where currency = 'EUR')`);
    const { html } = await visit(pool, chartsPage);
    expect(sectionOf(html, 'funnel').rows).toHaveLength(30);
    const [eur = '', usd = ''] = sectionOf(html, 'due').html.split('<figure').slice(1);
    expect(eur).toMatch(/too large to be drawn: \d{4}-\d\d \(paid\)\./);
    expect(eur).toContain('>too large to add up<');
    expect(eur).toContain('0.12 EUR</title>');
    expect(eur).not.toMatch(/NaN|Infinity|null|undefined/);
    expect(usd).toContain('<rect class="part part-withheld"');
    expect(usd).not.toContain('too large');
  });

  test('say of figures that were kept how old they are, and read quick ones anew', async () => {
    const { html } = await visit(database.pool, chartsPage);
    expect(html).not.toContain('As of');
  });
});
