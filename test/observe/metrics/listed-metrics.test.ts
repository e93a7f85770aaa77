// Metrics of several programs: which series each has, and what a scrape costs.

import { expect, test } from 'vitest';
import { makeMetrics } from '../../../src/observe/metrics/make-metrics.ts';
import { PREFIX } from '../../../src/observe/metrics/metric.ts';
import { createListed, SILENT, watchListed } from '../listed.ts';
import { readValue } from './scrape.ts';

async function startScraped() {
  const listed = await createListed('acme', 'beta', 'zeta');
  const [acme, beta, zeta] = listed.programs;
  if (!acme || !beta || !zeta) throw new Error('three were asked for');
  const programs = [acme, { ...beta, state: () => ({ paused: 'SCHEMA_MISMATCH' }) }, zeta];
  const watch = watchListed({ ...listed, programs }, []);
  const readAges = () => programs.map(({ db }) => watch.figures.get(db).ageSeconds);
  await expect.poll(readAges).not.toContain(null);
  const read = makeMetrics(
    {
      ...{ db: listed.database.db, log: SILENT, programs: () => programs, figures: watch.figures },
      countJobs: async () => ({ waiting: 1, active: 0 }),
      isFileRefused: () => true,
    },
    { version: '1.2.3', maxAgeSeconds: 26 * 3600 },
  );
  const scrape = async (only?: string) => (await read(only))?.text ?? null;
  return { ...listed, watch, acme, scrape };
}

const seriesOf = (text: string | null) => (text ?? '').split('\n').filter((line) => line.startsWith(PREFIX));
const readOf = (text: string | null, series: string) => readValue(text ?? '', PREFIX + series);

test('a program at rest has the series of the alert rules, one that works all of them, and the process its own', async () => {
  const { acme, run, watch, scrape } = await startScraped();
  const text = await scrape();
  expect(readOf(text, 'freshness_age_seconds{program="acme",resource="referrals"}')).toBeGreaterThan(7000);
  expect(readOf(text, 'last_run_state{program="zeta",resource="referrals",state="failed"}')).toBe(0);
  expect(readOf(text, 'program_serving{program="acme"}')).toBe(1);
  expect(readOf(text, 'program_serving{program="beta"}')).toBe(0);
  expect(readOf(text, 'program_paused{program="beta",reason="SCHEMA_MISMATCH"}')).toBe(1);
  expect(readOf(text, 'programs_file_refused')).toBe(1);
  expect(readOf(text, 'queue_jobs{state="waiting"}')).toBe(1);
  expect(readOf(text, 'database_size_bytes')).toBeGreaterThan(0);
  expect(text).not.toMatch(/table_rows\{|permits_granted_total\{|budget_used_requests\{/);
  const ofAcme = seriesOf(text).filter((line) => line.includes('program="acme"')).length;
  expect(ofAcme).toBeLessThan(60);

  // Prometheus sees an increase: the first scrape shows the counters as they were before.
  acme.recorder.permits('reads').granted();
  const granted = 'permits_granted_total{program="acme",priority="reads"}';
  expect(readOf(await scrape(), granted)).toBe(0);
  const working = await scrape();
  expect(readOf(working, granted)).toBe(1);
  expect(working).not.toMatch(/permits_granted_total\{[^}]*program="zeta"/);
  await expect.poll(() => scrape()).toMatch(/table_rows\{program="acme",table="affiliates"\}/);

  // Of any process.
  await run('zeta', `update sync_runs set finished_at = now() where resource = 'affiliates'`);
  await expect.poll(() => scrape()).toMatch(/permits_granted_total\{program="zeta",priority="reads"\} 0/);
  await watch.stop();
});

test('a scrape of one program has all of it and nothing else, as of now', async () => {
  const { scrape, watch, run } = await startScraped();
  await watch.stop();
  await run('zeta', `update worker_state set refused_at = now(), refused_code = 'API_UNAUTHORIZED'`);
  const text = await scrape('zeta');
  expect(readOf(text, 'secret_refused{program="zeta"}')).toBe(1);
  expect(readOf(text, 'table_rows{program="zeta",table="affiliates"}')).toBe(0);
  expect(seriesOf(text).filter((line) => !line.includes('program="zeta"'))).toEqual([]);
  expect(await scrape('other')).toBe(null);
});

test('a scrape of all programs reads nothing of any, and says how old its figures are', async () => {
  const { scrape, watch, transactions } = await startScraped();
  await watch.stop();
  const before = transactions();
  const [one, two] = [await scrape(), await scrape()];
  expect(transactions()).toBe(before);
  const age = 'figures_age_seconds{program="acme"}';
  expect(Number(readOf(two, age))).toBeGreaterThan(Number(readOf(one, age)));
});
