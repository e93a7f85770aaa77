// What the script of an open page does in a real browser (Debian's chromium): whatever changes is there within seconds,
// also where it changed at a bad moment.

import { beforeEach, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openStatusPage, viewDepsOf } from '../support/status-page.ts';
import { makeUp } from './made-up-programs.ts';

/** Well below the 30 seconds after which every page is read anew. */
const SOON = { timeout: 15_000 };

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

const storeRun = () =>
  database.pool.query(
    `insert into sync_runs (resource, mode, state, finished_at) values ('referrals', 'delta', 'interrupted', now())`,
  );

async function lookAtRuns(url: string) {
  const context = await (await openBrowser()).newContext();
  const page = await context.newPage();
  await page.goto(`${url}/runs`);
  await page.locator('#live:not([hidden]):not(.away)').waitFor(SOON);
  const untilShown = (run: number) => page.locator(`#run-log a[href$="/runs/${run}"]`).waitFor(SOON);
  return { context, page, untilShown };
}

test('what changes while a page is asked for is shown soon after', async () => {
  const { url } = await openStatusPage(database);
  const { context, page, untilShown } = await lookAtRuns(url);
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let count = 0;
  await page.route(`${url}/runs`, async (route) => {
    count += 1;
    if (count > 1) return route.continue();
    const response = await route.fetch();
    asked.resolve();
    await answered.promise;
    await route.fulfill({ response });
  });
  // The server looks every two seconds: what was there at its first look is no change.
  const again = setInterval(() => void storeRun(), 1000);
  await asked.promise;
  clearInterval(again);
  await storeRun();
  const { rows } = await database.pool.query<{ id: number }>('select max(id) as id from sync_runs');
  await page.waitForTimeout(5000);
  answered.resolve();
  await untilShown(rows[0]?.id ?? 0);
  expect(count).toBeGreaterThan(1);
  await context.close();
});

test('what changed while the worker was away is shown once it is back', async () => {
  const first = await openStatusPage(database);
  const { context, page, untilShown } = await lookAtRuns(first.url);
  await first.close();
  await page.locator('#live.away').waitFor(SOON);
  await storeRun();
  await openStatusPage(database, {}, { port: Number(new URL(first.url).port) });
  await untilShown(1);
  await context.close();
});

test('an open list of programs, and a view of one of them, update themselves', async () => {
  let isPaused = false;
  const acme = () => {
    const made = makeUp('acme', isPaused ? { condition: { state: 'paused', reason: 'no answer' } } : {});
    return { ...made, viewDeps: viewDepsOf(database.db, 'mirror') };
  };
  const { url } = await openStatusPage(null, { programs: () => [acme()] });
  const { context, page, untilShown } = await lookAtRuns(`${url}/p/acme`);
  const list = await context.newPage();
  await list.goto(url);
  await list.locator('#live:not([hidden]):not(.away)').waitFor(SOON);
  await storeRun();
  await untilShown(1);
  isPaused = true;
  await list.getByText('no answer').waitFor(SOON);
  await page.getByText('no answer').waitFor(SOON);
  await context.close();
});
