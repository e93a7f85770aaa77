// Two real schemas behind one status page: each program's views are its own, below its own root.

import { beforeAll, expect, test } from 'vitest';
import { makeProgramSummaries } from '../../src/observe/program-summaries.ts';
import type { PageProgram, ProgramCondition } from '../../src/web/status-page.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { addNeighbour } from '../support/neighbours.ts';
import { openStatusPage, type TestPage, viewDepsOf } from '../support/status-page.ts';
import { storeFindings } from './views/store-findings.ts';
import { linksOf, sectionOf } from './views/visit.ts';

let acme: TestDatabase;
let shop: TestDatabase;
let page: TestPage;
let conditionOfShop: ProgramCondition = { state: 'serving' };

beforeAll(async () => {
  acme = await createTestDatabase();
  shop = await addNeighbour(acme, 'mirror_shop');
  await storeFindings(acme.pool);
  const programs = (): PageProgram[] => [
    { ...describe('acme', acme, 'mirror'), condition: { state: 'serving' } },
    { ...describe('shop', shop, 'mirror_shop'), condition: conditionOfShop },
  ];
  const summaries = makeProgramSummaries(
    () => [
      { name: 'acme', db: acme.db, mirrorSchema: 'mirror' },
      { name: 'shop', db: shop.db, mirrorSchema: 'mirror_shop' },
    ],
    { maxAgeSeconds: 26 * 3600 },
  );
  const stop = new AbortController();
  const keeping = summaries.keep(stop.signal);

  function describe(name: string, { db }: TestDatabase, mirrorSchema: string) {
    const viewDeps = viewDepsOf(db, mirrorSchema);
    return { name, viewDeps, readFigures: () => summaries.figuresOf({ name, db, mirrorSchema }) };
  }

  page = await openStatusPage(null, { programs }, { basePath: '/proxy', piiPassword: 'people-see' });
  return async () => {
    stop.abort();
    await keeping;
  };
});

test('the list has both as they are', async () => {
  const rows = async () =>
    sectionOf((await page.ask({ path: '/proxy/' })).body, 'programs').rows.map(([name, state]) => [
      name,
      state,
    ]);
  await expect.poll(rows).toEqual([
    ['acme', '✕ failing'],
    ['shop', '▲ warning'],
  ]);
});

test("each has its own runs, its schema, and commands that name it; and its mark is not the other's", async () => {
  const [ofAcme, ofShop] = await Promise.all(
    ['acme', 'shop'].map(async (name) => (await page.ask({ path: `/proxy/p/${name}/runs` })).body),
  );
  expect(sectionOf(ofAcme ?? '', 'run-log').rows.length).toBeGreaterThan(1);
  expect(ofAcme).toContain('<small>schema mirror</small>');
  expect(ofShop).toContain('<strong>shop</strong> <small>schema mirror_shop</small>');
  expect(ofShop).toContain('Nothing was synced yet.');
  expect(ofShop).toContain('<code class="run">affiliate-mirror sync --program shop</code>');
  expect(ofShop).toContain('<title>Runs · shop · affiliate-mirror</title>');
  expect(ofShop).toContain('<a href="/proxy/p/shop/runs" aria-current="page">Runs</a>');
  expect(ofShop?.match(/aria-current=/g)).toHaveLength(1);
  const overview = await page.ask({ path: '/proxy/p/shop' });
  expect(overview.body).toContain('affiliate-mirror sync --program shop</code>');
  expect(overview.body).toContain('<a href="/proxy/p/shop/" aria-current="page">Overview</a>');
  const marks = await Promise.all(
    ['acme', 'shop'].map(async (name) => (await page.ask({ path: `/proxy/p/${name}/live` })).body),
  );
  expect(marks[0]).not.toBe(marks[1]);
  expect((await page.ask({ path: '/proxy/p/shop/live.js' })).headers['content-type']).toContain('javascript');
});

test.each([undefined, 'people-see'])('every link leads to a view, with the password %s', async (password) => {
  const given = password === undefined ? {} : { password };
  const seen = new Set<string>(['/proxy/']);
  const asked = new Set<string>();
  // The list, the programs, their views, and what these link to.
  for (let depth = 0; depth < 4; depth += 1) {
    for (const path of [...seen].filter((one) => !asked.has(one))) {
      asked.add(path);
      const { status, body } = await page.ask({ path, ...given });
      expect(status, path).toBe(200);
      expect(path).toMatch(/^\/proxy\//);
      const links = linksOf(body).filter((link) => !link.includes('personal-data') && !link.startsWith('#'));
      if (depth < 3) for (const link of links) seen.add(link.split('#')[0] ?? '');
    }
  }
  const elsewhere = [...seen].filter((path) => !/^\/proxy\/(p\/(acme|shop)\/|\?|$)/.test(path));
  expect(elsewhere).toEqual([]);
  expect([...seen].filter((path) => path.startsWith('/proxy/p/acme/')).length).toBeGreaterThan(25);
});

test('the password for personal data leads back to the view', async () => {
  const { body } = await page.ask({ path: '/proxy/p/acme/runs/3?x=1' });
  const link = linksOf(body).find((one) => one.includes('personal-data')) ?? '';
  expect(link).toMatch(/^\/proxy\/personal-data\?/);
  const answer = await page.ask({ path: link, password: 'people-see' });
  expect(answer.headers['location']).toBe('/proxy/p/acme/runs/3?x=1');
});

test('a paused program says why on each of its views, which are read all the same', async () => {
  conditionOfShop = { state: 'paused', reason: 'the API refuses the <secret>' };
  const { status, body } = await page.ask({ path: '/proxy/p/shop/data' });
  conditionOfShop = { state: 'serving' };
  expect(status).toBe(200);
  expect(body).toContain(
    '<strong>Paused</strong>: the API refuses the &lt;secret&gt;. The worker tries again',
  );
});

test('a program whose tables a user has locked holds up no other', async () => {
  const client = await acme.pool.connect();
  try {
    await client.query('begin; lock table sync_runs');
    const held = ['runs', 'data', 'payments'].map((view) => page.ask({ path: `/proxy/p/acme/${view}` }));
    expect((await page.ask({ path: '/proxy/p/shop/runs' })).status).toBe(200);
    expect((await page.ask({ path: '/proxy/' })).status).toBe(200);
    await client.query('rollback');
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
  } finally {
    client.release(true);
  }
});
