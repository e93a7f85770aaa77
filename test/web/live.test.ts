// Open pages learn that something changed by a mark: one look at the database for all that ask at once.

import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { openStatusPage } from '../support/status-page.ts';

test('a hundred pages that ask at once cost a look or two, not a hundred', async () => {
  const database = await createTestDatabase();
  let looks = 0;
  const connect = () => {
    looks += 1;
    return database.pool.connect();
  };
  const page = await openStatusPage({ pool: { ...database.pool, connect } });
  const marks = await Promise.all(Array.from({ length: 100 }, () => page.ask({ path: '/live' })));
  expect(new Set(marks.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
  expect(marks[0]?.status).toBe(200);
  expect(looks).toBeLessThan(5);
});

test('a database that is not there is a mark of its own, so that open pages say so', async () => {
  const page = await openStatusPage(null);
  expect(await page.ask({ path: '/live' })).toMatchObject({
    status: 200,
    body: 'the database does not answer',
  });
});
