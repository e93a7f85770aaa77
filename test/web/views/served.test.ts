// The pages as their server serves them: every link of theirs leads somewhere, also below the path of a reverse proxy.

import { beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openStatusPage, type TestPage } from '../../support/status-page.ts';
import { storeFindings } from './store-findings.ts';
import { linksOf } from './visit.ts';

let database: TestDatabase;
let page: TestPage;

beforeAll(async () => {
  database = await createTestDatabase();
  await storeFindings(database.pool);
  page = await openStatusPage(database, {}, { basePath: '/proxy', piiPassword: 'people-see' });
});

const PLACES = [
  '/runs',
  '/runs/3',
  '/payments',
  '/payments/ledger',
  '/payments/7',
  '/payments/1',
  '/data',
  '/charts',
];

test.each([undefined, 'people-see'])(
  'every link of every page leads to a page, with the password %s',
  async (password) => {
    const given = password === undefined ? {} : { password };
    const seen = new Set<string>();
    for (const place of PLACES) {
      const { status, body } = await page.ask({ path: `/proxy${place}`, ...given });
      expect(status, place).toBe(200);
      for (const link of linksOf(body)) {
        if (!link.includes('personal-data') && !link.startsWith('#')) seen.add(link.split('#')[0] ?? '');
      }
    }
    expect(seen.size).toBeGreaterThan(30);
    for (const path of seen) {
      expect(path).toMatch(/^\/proxy\//);
      const { status } = await page.ask({ path, ...given });
      expect(status, path).toBe(200);
    }
  },
);

test.each([
  '/runs/999',
  '/runs/x',
  '/payments/999',
  '/payments/batches/nothing',
  '/payments/batches/99999',
  '/payments/payouts/x',
])('%s is not found, in the frame of the site', async (path) => {
  const { status, body } = await page.ask({ path: `/proxy${path}` });
  expect(status).toBe(404);
  expect(body).toContain('<nav aria-label="Views">');
});
