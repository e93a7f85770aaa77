// The SQL below each section of each page: psql runs it as it is, and it gives what the page shows.

import type { Pool } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { formatMoney } from '../../../src/contract/money.ts';
import { makePool } from '../../../src/db/pool.ts';
import { makeLogger } from '../../../src/log.ts';
import type { Page } from '../../../src/web/page.ts';
import { batchPage } from '../../../src/web/pages/batch.ts';
import { chartsPage } from '../../../src/web/pages/charts.ts';
import { dataPage } from '../../../src/web/pages/data.ts';
import { ledgerPage } from '../../../src/web/pages/ledger.ts';
import { paymentPage } from '../../../src/web/pages/payment.ts';
import { paymentsPage } from '../../../src/web/pages/payments.ts';
import { runPage } from '../../../src/web/pages/run.ts';
import { runsPage } from '../../../src/web/pages/runs.ts';
import { afterFile } from '../../support/after-file.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { AFFILIATE, COMMISSIONS, HOSTILE, RUNS, storeFindings } from './store-findings.ts';
import { type Asked, type SeenSection, sectionsOf, visit } from './visit.ts';

interface Mirror {
  readonly database: TestDatabase;
  /** A session as psql has one: without the mirror's schema in its search path. */
  readonly psql: Pool;
}

let filled: Mirror;
let empty: Mirror;

beforeAll(async () => {
  [filled, empty] = [await openMirror(), await openMirror()];
  await storeFindings(filled.database.pool);
});

async function openMirror(): Promise<Mirror> {
  const database = await createTestDatabase();
  const settings = { url: database.url, schema: 'pg_catalog', max: 1, applicationName: 'psql' };
  const psql = makePool({ log: makeLogger('fatal') }, settings);
  afterFile(() => psql.end());
  return { database, psql };
}

const BATCH = `secret/../batch?${HOSTILE}`;
const HARD = `it's \\ "quoted" $1 ${HOSTILE}`;

const VISITS: readonly (readonly [name: string, page: Page, asked: Asked])[] = [
  ['runs', runsPage, {}],
  ['runs of a resource', runsPage, { query: { resource: 'referrals', before: '5' } }],
  ...Object.values(RUNS).map((id) => [`run ${id}`, runPage, { params: { id: String(id) } }] as const),
  ['payments', paymentsPage, {}],
  ['batches', paymentsPage, { query: { before: '5' } }],
  ['ledger', ledgerPage, {}],
  ['ledger of a commission', ledgerPage, { query: { commission: COMMISSIONS[2] ?? '' } }],
  ['ledger of an affiliate', ledgerPage, { query: { affiliate: AFFILIATE, state: 'failed', before: '9' } }],
  ['ledger of what is hard to quote', ledgerPage, { query: { commission: HARD, affiliate: HARD } }],
  ['ledger of people', ledgerPage, { query: { batch: BATCH, requested_by: HARD, person: HARD } }],
  ['ledger of a person', ledgerPage, { query: { person: `<Script>alert("secret & 'x'` } }],
  ['request', paymentPage, { params: { id: '7' } }],
  ['batch', batchPage, { params: { id: BATCH } }],
  ['batch of a request', batchPage, { params: { id: 'of' }, query: { request: '2' } }],
  ['requests in no batch', batchPage, { params: { id: 'of' }, query: { request: '8' } }],
  ['data', dataPage, {}],
  ['charts', chartsPage, {}],
  ['charts of a year', chartsPage, { query: { days: '365' } }],
];

/** Shown in other units, or in words that go by another figure. */
const OTHERWISE =
  /seconds|bytes|per_day|_ms$|^puts$|^newest_request$|^amount$|^attempts$|total_upstream|distinct_seen/;

test.each(VISITS)('%s: what it gives is what is shown', async (_name, page, asked) => {
  for (const [mirror, mayReadPeople] of [
    [filled, true],
    [filled, false],
    [empty, true],
  ] as const) {
    const seen = await visit(mirror.database.pool, page, { ...asked, mayReadPeople });
    if (seen.content.status === 404) continue;
    for (const section of sectionsOf(seen.html)) {
      expect(section.sql, `${section.id} shows its SQL`).not.toBeNull();
      const { rows } = await mirror.psql.query<Record<string, unknown>>(section.sql ?? '');
      compare(section, rows, seen.text);
    }
  }
});

function compare(section: SeenSection, given: readonly Record<string, unknown>[], pageText: string): void {
  const { id, tables } = section;
  // The commissions have a table for each currency; the charts of runs show the same runs in each.
  const shown = id === 'due' ? [tables.flat()] : tables;
  for (const table of shown) expect(table, id).toHaveLength(tables.length === 0 ? 0 : given.length);
  for (const [place, row] of given.entries()) {
    const text = tables.length === 0 ? pageText : shown.flatMap((table) => table[place] ?? []).join(' ');
    const currency = typeof row['currency'] === 'string' ? row['currency'] : null;
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== 'number' || OTHERWISE.test(name)) continue;
      const spellings = [String(value), value.toLocaleString('en-US'), formatMoney(value, currency)];
      const isShown = spellings.some((spelling) => text.includes(spelling));
      expect(isShown, `${id}, row ${place}: ${name} ${value} in ${text}`).toBe(true);
    }
  }
}

test('no SQL of a page has a name in it that may not be read', async () => {
  for (const [, page, asked] of VISITS) {
    if (asked.query !== undefined && Object.values(asked.query).some((text) => text.includes('secret')))
      continue;
    for (const { sql } of sectionsOf((await visit(filled.database.pool, page, asked)).html)) {
      expect(sql).not.toContain('secret');
    }
  }
});
