// Every page: psql runs the SQL below each of its sections as it is, and that gives what the page shows; whoever may not
// see personal data finds none in the markup; and text that would be markup is none.

import { beforeAll, expect, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { MONEY } from '../../../src/contract/money.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import type { View } from '../../../src/web/view.ts';
import { batchView } from '../../../src/web/views/batch.ts';
import { chartsView } from '../../../src/web/views/charts.ts';
import { dataView } from '../../../src/web/views/data.ts';
import { ledgerView } from '../../../src/web/views/ledger.ts';
import { paymentView } from '../../../src/web/views/payment.ts';
import { paymentsView } from '../../../src/web/views/payments.ts';
import { payoutView } from '../../../src/web/views/payout.ts';
import { runView } from '../../../src/web/views/run.ts';
import { runsView } from '../../../src/web/views/runs.ts';
import { afterFile } from '../../support/after-file.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openStatusPage } from '../../support/status-page.ts';
import {
  AFFILIATE,
  COMMISSIONS,
  HOSTILE,
  PAYOUT,
  PERSONAL_MARK,
  RUNS,
  storeFindings,
} from './store-findings.ts';
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

const VISITS: readonly (readonly [name: string, page: View, asked: Asked])[] = [
  ['runs', runsView, {}],
  ['runs of a resource', runsView, { query: { resource: 'referrals', before: '5' } }],
  ...Object.values(RUNS).map((id) => [`run ${id}`, runView, { params: { id: String(id) } }] as const),
  ['payments', paymentsView, {}],
  ['batches', paymentsView, { query: { before: '5' } }],
  ['ledger', ledgerView, {}],
  ['ledger of a commission', ledgerView, { query: { commission: COMMISSIONS[2] ?? '' } }],
  ['ledger of an affiliate', ledgerView, { query: { affiliate: AFFILIATE, state: 'failed', before: '9' } }],
  ['ledger of what is hard to quote', ledgerView, { query: { commission: HARD, affiliate: HARD } }],
  ['ledger of people', ledgerView, { query: { batch: BATCH, requested_by: HARD, person: HARD } }],
  ['ledger of a person', ledgerView, { query: { person: `<Script>alert("secret & 'x'` } }],
  ['request', paymentView, { params: { id: '7' } }],
  ['batch', batchView, { params: { id: '2' } }],
  ['requests in no batch', batchView, { params: { id: '8' } }],
  ['payout', payoutView, { params: { id: PAYOUT } }],
  ['data', dataView, {}],
  ['charts', chartsView, {}],
  ['charts of a year', chartsView, { query: { days: '365' } }],
];

/** Some of the personal data of each for whoever may see them. */
const PIECES: Readonly<Record<string, readonly string[]>> = {
  [`run ${RUNS.partial}`]: ['secret words of no form', `"name":"secret `, HOSTILE.slice(0, 20)],
  payments: ['secret/../batch?', 'secret Margaret', 'secret outcome', HOSTILE.slice(0, 20)],
  ledger: ['secret reason', 'secret outcome', 'secret Margaret', HOSTILE.slice(0, 20)],
  request: ['secret note', 'secret@example.com', 'secret said the program', HOSTILE.slice(0, 20)],
  payout: ['secret@example.com', HOSTILE.slice(0, 20)],
  batch: ['Batch secret/../batch?', HOSTILE.slice(0, 20)],
};

/** Of what is read; a reason is looked into for the field that it names. */
const PERSONAL_COLUMNS =
  /payload|, reason|accepted_by|customer_|first_name|affiliate_name|email|outcome|\bnote\b|requested_by|line\.batch|, error\n/;

const asksForPeople = ({ query = {} }: Asked) =>
  Object.values(query).some((text) => text.includes(PERSONAL_MARK));

test.each(VISITS.filter(([, , asked]) => !asksForPeople(asked)))(
  '%s: has no personal data for whoever may not see them',
  async (_name, page, asked) => {
    const { html, content } = await visit(filled.database.pool, page, asked);
    expect(content.status).toBeUndefined();
    expect(html).not.toContain(PERSONAL_MARK);
    expect(content.title).not.toContain(PERSONAL_MARK);
    for (const { sql } of sectionsOf(html)) expect(sql).not.toMatch(PERSONAL_COLUMNS);
  },
);

test.each(VISITS)(
  '%s: has them for whoever may, and text from elsewhere as text',
  async (name, page, asked) => {
    const { html, text } = await visit(filled.database.pool, page, { ...asked, mayReadPeople: true });
    for (const piece of PIECES[name] ?? []) expect(text).toContain(piece);
    expect(html).not.toMatch(/<script|<\/script|javascript:|\son[a-z]+=| style=/i);
  },
);

test('rows that a run held back have names and who accepted them for whoever may see these', async () => {
  const asked = { params: { id: String(RUNS.partial) }, query: { held_after: '' } };
  const { text } = await visit(filled.database.pool, runView, { ...asked, mayReadPeople: true });
  expect(text).toContain('secret admin');
  expect(text).toContain(`secret ${HOSTILE}`);
});

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
      const spellings = [String(value), value.toLocaleString('en-US'), MONEY.minor.format(value, currency)];
      const isShown = spellings.some((spelling) => text.includes(spelling));
      expect(isShown, `${id}, row ${place}: ${name} ${value} in ${text}`).toBe(true);
    }
  }
}

test('of the overview psql runs what is shown', async () => {
  const { body } = await (await openStatusPage(filled.database)).ask();
  const shown = sectionsOf(body).flatMap(({ sql }) => sql ?? []);
  expect(shown).toHaveLength(9);
  for (const text of shown) await filled.psql.query(text);
});
