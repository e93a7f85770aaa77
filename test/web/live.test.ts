// Open pages learn that something changed by a mark: one look at the database for all that ask at once.

import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { expectGuardedHeaders, openStatusPage } from '../support/status-page.ts';

test('the mark is another one within a second of a run that began, and the same where nothing changed', async () => {
  const database = await createTestDatabase();
  const page = await openStatusPage(database);
  const answer = await page.ask({ path: '/live' });
  expect(answer.status).toBe(200);
  expectGuardedHeaders(answer);
  const readMark = async () => (await page.ask({ path: '/live' })).body;
  expect(await readMark()).toBe(answer.body);
  await database.pool.query(
    `insert into sync_runs (resource, mode, state, finished_at) values ('referrals', 'delta', 'interrupted', now())`,
  );
  await expect.poll(readMark, { timeout: 1500 }).not.toBe(answer.body);
  const next = await readMark();
  await expect.poll(readMark, { timeout: 1500 }).toBe(next);
});

test('a hundred pages that ask at once cost a look or two, not a hundred', async () => {
  const database = await createTestDatabase();
  const page = await openStatusPage(database);
  await page.ask({ path: '/live' });
  await new Promise((resolve) => setTimeout(resolve, 1100));
  let looks = 0;
  database.pool.on('acquire', () => {
    looks += 1;
  });
  const marks = await Promise.all(Array.from({ length: 100 }, () => page.ask({ path: '/live' })));
  expect(new Set(marks.map(({ body }) => body)).size).toBe(1);
  expect(looks).toBeLessThan(5);
});

test('a database that is not there is a mark of its own, so that open pages say so', async () => {
  const page = await openStatusPage(null);
  expect(await page.ask({ path: '/live' })).toMatchObject({
    status: 200,
    body: 'the database does not answer',
  });
});
