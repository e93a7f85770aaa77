// Who sees personal data on the pages: nobody who may not, anywhere in the markup; and text that would be markup is
// none.

import { beforeAll, describe, expect, test } from 'vitest';
import type { Page } from '../../../src/web/page.ts';
import { batchPage } from '../../../src/web/pages/batch.ts';
import { chartsPage } from '../../../src/web/pages/charts.ts';
import { dataPage } from '../../../src/web/pages/data.ts';
import { ledgerPage } from '../../../src/web/pages/ledger.ts';
import { paymentPage } from '../../../src/web/pages/payment.ts';
import { paymentsPage } from '../../../src/web/pages/payments.ts';
import { runPage } from '../../../src/web/pages/run.ts';
import { runsPage } from '../../../src/web/pages/runs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { HOSTILE, PERSONAL_MARK, RUNS, storeFindings } from './store-findings.ts';
import { type Asked, sectionsOf, visit } from './visit.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await storeFindings(database.pool);
});

/** Of what is read; a reason is looked into for the field that it names. */
const PERSONAL_COLUMNS =
  /payload|, reason|accepted_by|customer_|first_name|affiliate_name|email|outcome|\bnote\b|requested_by|line\.batch|, error\n/;

/** With how many pieces of personal data each has for whoever may see them. */
const VISITS: readonly (readonly [name: string, page: Page, asked: Asked, pieces: readonly string[]])[] = [
  ['the run log', runsPage, {}, []],
  ...Object.values(RUNS).map(
    (id) =>
      [
        `run ${id}`,
        runPage,
        { params: { id: String(id) } },
        id === RUNS.partial ? ['secret words of no form', `"name":"secret `] : [],
      ] as const,
  ),
  ['payments', paymentsPage, {}, ['secret/../batch?', 'secret Margaret', 'secret outcome']],
  ['the ledger', ledgerPage, {}, ['secret reason', 'secret outcome', 'secret Margaret']],
  [
    'a request',
    paymentPage,
    { params: { id: '7' } },
    ['secret note', 'secret@example.com', 'secret said the program'],
  ],
  ['a batch', batchPage, { params: { id: 'of' }, query: { request: '2' } }, ['Batch secret/../batch?']],
  ['data', dataPage, {}, []],
  ['charts', chartsPage, {}, []],
];

describe.each(VISITS)('%s', (_name, page, asked, pieces) => {
  test('has no personal data for whoever may not see them', async () => {
    const { html, content } = await visit(database.pool, page, asked);
    expect(content.status).toBeUndefined();
    expect(html).not.toContain(PERSONAL_MARK);
    expect(content.title).not.toContain(PERSONAL_MARK);
    for (const { sql } of sectionsOf(html)) expect(sql).not.toMatch(PERSONAL_COLUMNS);
  });

  test('has them for whoever may', async () => {
    const { text } = await visit(database.pool, page, { ...asked, mayReadPeople: true });
    for (const piece of pieces) expect(text).toContain(piece);
  });

  test('shows text from elsewhere as text', async () => {
    const { html, text } = await visit(database.pool, page, { ...asked, mayReadPeople: true });
    expect(html).not.toMatch(/<script|<\/script|javascript:|\son[a-z]+=| style=/i);
    if (pieces.length > 0) expect(text).toContain(HOSTILE.slice(0, 20));
  });
});

test('rows that a run held back have names and who accepted them for whoever may see these', async () => {
  const asked = { params: { id: String(RUNS.partial) }, query: { held_after: '' } };
  const { text } = await visit(database.pool, runPage, { ...asked, mayReadPeople: true });
  expect(text).toContain('secret admin');
  expect(text).toContain(`secret ${HOSTILE}`);
});
