// The pages as their server serves them: every link of theirs leads somewhere, also where names are hard to spell in an
// address, and below the path of a reverse proxy.

import { beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openStatusPage, type TestPage } from '../../support/status-page.ts';
import { storeFindings } from './store-findings.ts';
import { linksOf } from './visit.ts';

const NAMES = ['a/b', '..', '.', 'of', '100 %', '%2F', 'ünï ☃', 'x'.repeat(300), '?&#=+', '\\', "'--", '12'];

let database: TestDatabase;
let page: TestPage;

beforeAll(async () => {
  database = await createTestDatabase();
  await storeFindings(database.pool);
  for (const name of NAMES) {
    await database.pool.query(
      `insert into commission_updates (commission_id, action, batch_id) values (gen_random_uuid()::text, 'unpay', $1)`,
      [name],
    );
  }
  page = await openStatusPage(database, {}, { basePath: '/proxy', piiPassword: 'people-see' });
});

const PLACES = ['/runs', '/runs/3', '/payments', '/payments/ledger', '/payments/7', '/data', '/charts'];

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
    expect(seen.size).toBeGreaterThan(40);
    for (const path of seen) {
      expect(path).toMatch(/^\/proxy\//);
      const { status } = await page.ask({ path, ...given });
      expect(status, path).toBe(200);
    }
  },
);

test('a batch is shown under its name, however that is spelled', async () => {
  const { body } = await page.ask({ path: '/proxy/payments', password: 'people-see' });
  const links = linksOf(body).filter((link) => link.includes('/payments/batches/'));
  expect(links.length).toBe(NAMES.length + 2);
  const titles = [];
  for (const path of links) {
    const { body: shown } = await page.ask({ path, password: 'people-see' });
    titles.push(/<h1>Batch ([^<]*)<\/h1>/.exec(shown)?.[1]);
  }
  const escaped = NAMES.map((name) => name.replaceAll('&', '&amp;').replaceAll("'", '&#39;'));
  expect(titles).toEqual(expect.arrayContaining(escaped));
});

test.each([
  '/runs/999',
  '/runs/x',
  '/payments/999',
  '/payments/batches/nothing',
  '/payments/batches/of?request=99999',
])('%s is not found, in the frame of the site', async (path) => {
  const { status, body } = await page.ask({ path: `/proxy${path}` });
  expect(status).toBe(404);
  expect(body).toContain('<nav aria-label="Pages">');
});
