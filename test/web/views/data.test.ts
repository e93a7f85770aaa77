// The pages of what the mirror holds, and of the program's business over time.

import { describe, expect, test } from 'vitest';
import { chartsView } from '../../../src/web/views/charts.ts';
import { dataView } from '../../../src/web/views/data.ts';
import { buildCommission, buildReferral } from '../../mirror/build-records.ts';
import { at, load } from '../../mirror/load.ts';
import { createTestDatabase } from '../../support/database.ts';
import { storeFindings } from './store-findings.ts';
import { sectionOf, visit } from './visit.ts';

const database = await createTestDatabase();
const empty = await createTestDatabase();
await storeFindings(database.pool);

describe('data', () => {
  test('of a mirror with nothing in it says so of each part', async () => {
    const { html, text } = await visit(empty.pool, dataView);
    expect(sectionOf(html, 'tables').rows.map((row) => row[1])).toEqual(['0', '0', '0', '0', '0', '0', '0']);
    expect(text).toContain('The last syncs found none.');
    expect(text).toContain('None: every record that was read could be stored.');
    expect(text).toContain('None by schedule, and none incremental.');
    expect(text).toContain('A delta cannot see these');
  });

  test.each([
    [undefined, 'The space of the database is not known: set DATABASE_SIZE_LIMIT'],
    [{ source: 'limit', limitBytes: 1 } as const, 'Nothing is left of DATABASE_SIZE_LIMIT'],
    [
      { source: 'file_system', freeBytes: 5e9 } as const,
      // At a rate that nobody knows yet, nothing can be said of when.
      'is known a day after everything was read first. 5.0 GB are left on the disk of DATA_DIR.',
    ],
  ])('with the space %j says what that means', async (space, words) => {
    const { html } = await visit(empty.pool, dataView, space === undefined ? {} : { space });
    const { text } = sectionOf(html, 'growth');
    expect(text).toContain(words);
    expect(text).toContain('how fast it grows is known a day after everything was read first.');
  });

  test('counts what is new, what was rejected, and what was exported', async () => {
    const { pool } = await createTestDatabase();
    await storeFindings(pool);
    await pool.query(`update referrals set _first_seen_at = now() - interval '2 days'`);
    await pool.query(`update sales set _first_seen_at = now()`);
    const { html } = await visit(pool, dataView);
    const tables = sectionOf(html, 'tables').rows;
    expect(tables.find(([table]) => table === 'referrals')?.slice(3, 5)).toEqual(['0', '1']);
    expect(tables.find(([table]) => table === 'sales')?.slice(3, 5)).toEqual(['1', '1']);
    expect(sectionOf(html, 'rejected').rows.map((row) => [row[0], row[1], row[4]])).toEqual([
      ['commissions', '1', 'outside a run'],
      ['referrals', '3', '3'],
    ]);
    expect(sectionOf(html, 'exports').rows[0]?.slice(0, 4)).toEqual([
      'referrals',
      '/var/exports',
      'changes',
      '12',
    ]);
  });
});

const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

describe('charts', () => {
  test('of a mirror without records are none', async () => {
    const { text } = await visit(empty.pool, chartsView);
    expect(text).toContain('The mirror has no referral, lead or conversion.');
    expect(text).toContain('The mirror has no commission that was or will be due.');
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
    const { html } = await visit(database.pool, chartsView, { query });
    const { rows, html: funnel } = sectionOf(html, 'funnel');
    expect(rows).toHaveLength(1 + points);
    const lines = [...funnel.matchAll(/<path class="line-[a-z]+" d="M([^"]+)"/g)];
    expect(lines).toHaveLength(3);
    for (const [, line = ''] of lines) expect(line.split('L')).toHaveLength(points);
    expect(funnel).toContain('aria-current="true"');
    expect(rows.at(-1)?.slice(1)).toEqual(['1', '0', '0']);
  });

  test('say below them what is earlier or later than they show, and have it in their figures', async () => {
    const { db, pool } = await createTestDatabase();
    const referrals = [400, 31, 30, 29, 0].map((days) =>
      buildReferral({ created_at: ago(days), conversion_state: 'visitor' }),
    );
    await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: referrals }] });
    const commissions = [900, 500, 0, -200].map((days) =>
      buildCommission({ sale: null, amount: 30_000, currency: 'EUR', due_at: ago(days), paid_at: null }),
    );
    const paid = buildCommission({
      sale: null,
      amount: 1234,
      currency: 'USD',
      due_at: ago(800),
      paid_at: ago(700),
    });
    await load(db, {
      resource: 'commissions',
      pages: [{ observedAt: at(2), records: [...commissions, paid] }],
    });

    const { html } = await visit(pool, chartsView);
    const funnel = sectionOf(html, 'funnel');
    expect(funnel.text).toContain('Earlier: 3 new referrals.');
    expect(funnel.rows).toHaveLength(31);
    expect(funnel.rows[0]).toEqual(['earlier', '3', '0', '0']);
    expect(funnel.rows[1]?.[1]).toBe('1');
    const due = sectionOf(html, 'due');
    expect(due.text).toContain('Earlier: 600.00 EUR overdue. Later: 300.00 EUR pending.');
    // Of a currency, too, of which nothing is due in the window.
    expect(due.text).toContain('Earlier: 12.34 USD paid.');
    const [euros = [], dollars = []] = due.tables;
    expect(euros).toHaveLength(17);
    expect(euros[0]?.slice(0, 2)).toEqual(['earlier', '2']);
    expect(euros.at(-1)?.slice(0, 2)).toEqual(['later', '1']);
    expect(dollars[0]?.slice(0, 3)).toEqual(['earlier', '1', '12.34 USD']);
    const year = await visit(pool, chartsView, { query: { days: '365' } });
    expect(sectionOf(year.html, 'funnel').text).toContain('Earlier: 1 new referral.');
  });
});
