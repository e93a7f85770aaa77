// What a scrape says of a mirror, and that it is answered whatever is away.

import { expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { METRICS } from '../../../src/observe/metrics/make-metrics.ts';
import { PREFIX } from '../../../src/observe/metrics/metric.ts';
import { FREE_TEXT, PERSONAL, storeRows } from '../../reports/store-rows.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startPostgresGate } from '../../support/postgres-gate.ts';
import { makeScraper, namesOf, readValue } from './scrape.ts';

/** Returns the reader of one metric of a scrape, without what all names begin with. */
async function scrapeOnce(scraper: ReturnType<typeof makeScraper>) {
  const text = await scraper.scrape();
  return { text, of: (series: string) => readValue(text, PREFIX + series) };
}

test('a mirror that was never synced says so, and has no age', async () => {
  const { pool } = await createTestDatabase();
  const { text, of } = await scrapeOnce(makeScraper(pool));
  expect(of('concern{code="never_synced"}')).toBe(1);
  expect(of('concern{code="sync_failed"}')).toBe(0);
  expect(of('database_up')).toBe(1);
  expect(of('budget_limit_requests')).toBe(45);
  expect(of('queue_jobs{state="waiting"}')).toBe(1);
  expect(text).not.toContain('freshness_age_seconds{');
  // One without labels is absent as well where nobody knows it, and not 0.
  expect(of('commission_sums_differing')).toBe(null);
});

test('the figures are those of the run log and the payment ledger', async () => {
  const { pool } = await createTestDatabase();
  await pool.query(`
    insert into sync_runs (resource, mode, state, verified, started_at, finished_at, heartbeat_at, requests,
        rows_seen, rows_inserted, rows_unchanged, rows_rejected)
      values ('affiliates', 'full', 'succeeded', true, now() - interval '3 hours', now() - interval '2 hours', now(),
              7, 12, 5, 6, 1),
             ('affiliates', 'delta', 'failed', false, now() - interval '60 s', now() - interval '30 s', now(),
              3, 0, 0, 0, 0),
             ('referrals', 'full', 'failed', false, now() - interval '3 days', now() - interval '2 days', now(),
              3, 0, 0, 0, 0);
    insert into commission_updates (batch_id, commission_id, action, paid_at, expected_unpaid, requested_by)
      values (gen_random_uuid(), '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11', 'pay', now(), false, 'x');
    update worker_state set refused_at = now(), refused_code = 'API_UNAUTHORIZED';
  `);
  const { of } = await scrapeOnce(makeScraper(pool));
  expect(of('freshness_age_seconds{resource="affiliates"}')).toBeCloseTo(3 * 3600, -3);
  expect(of('last_run_state{resource="affiliates",state="failed"}')).toBe(1);
  expect(of('last_run_state{resource="affiliates",state="succeeded"}')).toBe(0);
  expect(of('last_run_duration_seconds{resource="affiliates"}')).toBeCloseTo(30);
  expect(of('last_run_requests{resource="affiliates"}')).toBe(3);
  expect(of('runs_last_day{resource="affiliates",state="succeeded"}')).toBe(1);
  expect(of('runs_last_day{resource="referrals",state="failed"}')).toBe(null);
  expect(of('rejected_records{resource="affiliates"}')).toBe(1);
  expect(of('commission_updates{state="pending"}')).toBe(1);
  expect(of('oldest_pending_update_age_seconds')).toBeGreaterThan(0);
  expect(of('secret_refused')).toBe(1);
  expect(of('concern{code="secret_refused"}')).toBe(1);
});

test.each([
  ['payments_failed', `state = 'failed', outcome = 'still being paid', finished_at = now()`],
  ['payments_neglected', `next_attempt_at = now() - interval '1 hour'`],
])('%s counts a request to pay a payout in, and so does its concern', async (code, change) => {
  const { pool } = await createTestDatabase();
  await pool.query(`insert into commission_updates (payout_id, action) values (gen_random_uuid(), 'pay')`);
  await pool.query(`update commission_updates set ${change}`);
  const { of } = await scrapeOnce(makeScraper(pool));
  expect(of(code)).toBe(1);
  expect(of(`concern{code="${code}"}`)).toBe(1);
});

test('no personal data and nothing of what people wrote is in it', async () => {
  const { pool } = await createTestDatabase();
  await storeRows(pool);
  const { text, of } = await scrapeOnce(makeScraper(pool));
  expect(of('table_rows{table="affiliates"}')).toBe(3);
  for (const word of [...PERSONAL, ...FREE_TEXT]) expect(text).not.toContain(word);
});

test('while the database is away a scrape says so at once, with what the process knows, and no old figure', async () => {
  const { url } = await createTestDatabase();
  const gate = await startPostgresGate(url, Number.POSITIVE_INFINITY);
  const log = makeLogger('silent');
  const pool = makePool({ log }, { url: gate.url, schema: 'mirror', max: 1, applicationName: 'test' });
  onTestFinished(() => pool.end());
  const scraper = makeScraper(pool);
  scraper.recorder.permits('reads').granted();
  const before = await scrapeOnce(scraper);
  const kept = await scrapeOnce(scraper);
  await gate.close();
  const after = await scrapeOnce(scraper);
  expect(kept.of('figures_read_seconds')).toBe(before.of('figures_read_seconds'));
  expect([before, kept, after].map(({ of }) => of('database_up'))).toEqual([1, 1, 0]);
  expect(after.of('payments_failed')).toBe(null);
  expect(after.of('permits_granted_total{priority="reads"}')).toBe(1);
});

test('while the queue is away a scrape says so, with all the rest', async () => {
  const { pool } = await createTestDatabase();
  const countJobs = () => Promise.reject(new Error('redis://:secret@host is away'));
  const { text, of } = await scrapeOnce(makeScraper(pool, { countJobs }));
  expect(of('queue_up')).toBe(0);
  expect(of('database_up')).toBe(1);
  expect(text).not.toMatch(/queue_jobs\{|secret@/);
});

test('every metric of our own is in a scrape, named as Prometheus asks for it', async () => {
  const { pool } = await createTestDatabase();
  const { text } = await scrapeOnce(makeScraper(pool));
  const ours = namesOf(text).filter((name) => name.startsWith(PREFIX));
  expect(ours).toEqual(METRICS.map(({ name }) => PREFIX + name));
  for (const { name, type, help } of METRICS) {
    expect(name, 'of a counter ends in _total, and no other').toMatch(
      type === 'counter' ? /_total$/ : /^(?!.*_total$)/,
    );
    expect(help).toMatch(/\.$/);
  }
  // promtool refuses these names.
  expect(text).not.toMatch(/nodejs_active_\w+_total/);
});
