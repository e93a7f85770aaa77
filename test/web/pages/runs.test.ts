// The run log and the page of one run, in each state that a run can be in.

import { beforeAll, describe, expect, test } from 'vitest';
import { runPage } from '../../../src/web/pages/run.ts';
import { runsPage } from '../../../src/web/pages/runs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { RUNS, storeFindings } from './store-findings.ts';
import { readToEnd, sectionOf, visit } from './visit.ts';

let database: TestDatabase;
let empty: TestDatabase;

beforeAll(async () => {
  [database, empty] = [await createTestDatabase(), await createTestDatabase()];
  await storeFindings(database.pool);
});

const lookAt = async (run: keyof typeof RUNS, mayReadPeople = false) =>
  await visit(database.pool, runPage, { params: { id: String(RUNS[run]) }, mayReadPeople });

describe('the run log', () => {
  test('of a mirror that was never synced says how to begin', async () => {
    const { text, content } = await visit(empty.pool, runsPage);
    expect(text).toContain('Nothing was synced yet');
    expect(text).toContain('affiliate-mirror sync');
    expect(content.status).toBeUndefined();
  });

  test('has every run with its state, newest first, and its address', async () => {
    const { html } = await visit(database.pool, runsPage);
    const { rows } = sectionOf(html, 'run-log');
    expect(rows.map(([id]) => Number(id))).toEqual(Object.values(RUNS).toReversed());
    expect(rows.find(([id]) => id === String(RUNS.failed))?.join(' | ')).toContain(
      '✕ failed API_UNAVAILABLE',
    );
    expect(html).toContain(`<a href="/site/runs/${RUNS.failed}">`);
  });

  test('narrows by resource and state, the charts too, and says where none fits', async () => {
    const { html } = await visit(database.pool, runsPage, {
      query: { resource: 'referrals', state: 'failed' },
    });
    expect(sectionOf(html, 'run-log').rows.map(([id]) => Number(id))).toEqual([RUNS.failed]);
    expect(html.match(/<g class="run">/g)).toHaveLength(3);
    expect(html).toContain('<option selected>referrals</option>');
    const none = await visit(database.pool, runsPage, {
      query: { resource: 'commissions', state: 'failed' },
    });
    expect(none.text).toContain('No run fits.');
  });

  test.each([
    { resource: "'; drop table sync_runs" },
    { state: 'lost' },
    { before: '-1' },
    { before: '1e9' },
  ])('shows all runs where the query names nothing: %j', async (query) => {
    const { html } = await visit(database.pool, runsPage, { query });
    expect(sectionOf(html, 'run-log').rows).toHaveLength(Object.keys(RUNS).length);
  });

  test('draws a bar for each run that was not skipped, and marks those that did not succeed by a shape', async () => {
    const { html } = await visit(database.pool, runsPage);
    const charts = html.split('<figure').slice(1);
    expect(charts).toHaveLength(3);
    for (const chart of charts) {
      expect(chart.match(/<g class="run">/g)).toHaveLength(Object.keys(RUNS).length - 1);
      expect(chart).toMatch(/<svg class="plot" [^>]*role="img" aria-labelledby="([a-z-]+)-name \1-words">/);
      for (const state of ['failed', 'partial', 'interrupted', 'running']) {
        expect(chart).toMatch(new RegExp(`, ${state}: [^<]+</title><rect [^>]+/><path class="sign-`));
      }
      expect(chart).not.toMatch(/, succeeded: [^<]+<\/title><rect [^>]+\/><path/);
      expect(chart).not.toMatch(/NaN|Infinity|undefined|style=/);
    }
  });

  test('page by page, has each run once', async () => {
    const { pool } = await createTestDatabase();
    await pool.query(`
      insert into sync_runs (resource, mode, state, verified, finished_at)
      select (array['affiliates', 'referrals'])[1 + n % 2], 'full', 'succeeded', true, now()
      from generate_series(1, 203) n`);
    const all = Array.from({ length: 203 }, (_, place) => String(203 - place));
    expect(await readToEnd(pool, runsPage, { section: 'run-log' })).toEqual(all);
    const query = { resource: 'referrals' };
    const odd = all.filter((id) => Number(id) % 2 === 1);
    expect(await readToEnd(pool, runsPage, { section: 'run-log', query })).toEqual(odd);
  });
});

describe('a run', () => {
  test.each(['0', '-1', '999', 'abc', '1e3', '9'.repeat(40), '<script>', '', '1 or 1=1'])(
    'that is not in the run log is not found: %j',
    async (id) => {
      const { content, html } = await visit(database.pool, runPage, { params: { id } });
      expect(content.status).toBe(404);
      expect(html).not.toContain('<script>');
    },
  );

  test('shows its counts, and that they add up', async () => {
    const { html, text } = await lookAt('usual');
    expect(sectionOf(html, 'counts').text).toContain(
      '1,234 read = 1,000 inserted + 200 updated + 30 unchanged + 0 rejected + 4 read again The counts add up: the five come to 1,234.',
    );
    expect(text).toContain('this is attempt 2');
    expect(text).toContain(
      'Verified: it is known that it missed nothing (1,230 different records seen, the program says 1,230)',
    );
    expect(text).toContain('It set out to read everything of affiliates');
  });

  test('whose counts do not add up says so', async () => {
    const { pool } = await createTestDatabase();
    await pool.query(`
      alter table sync_runs drop constraint sync_runs_counts_add_up;
      insert into sync_runs (resource, mode, state, rows_seen, rows_inserted, finished_at)
      values ('affiliates', 'full', 'failed', 10, 7, now())`);
    const { text } = await visit(pool, runPage, { params: { id: '1' } });
    expect(text).toContain('The counts do not add up: the five come to 7.');
  });

  test('that failed says with what, and what the code means', async () => {
    const { text } = await lookAt('failed');
    // What the program said may be about a person.
    expect(text).not.toContain('the program answered 503');
    expect(text).toContain('API_UNAVAILABLE The program answered 5xx or 408.');
    expect(text).toContain('Not verified: it may have missed records');
  });

  test.each([
    ['delta', 'It expected to need 3 requests; reading everything takes 61.'],
    ['delta', '1 affiliate had counters that moved'],
    ['delta', 'Verified: of the lists that it read, it missed nothing. What a delta does not see'],
    ['commissions', '12 commissions were pending or due; 4 of them no longer are.'],
    ['commissions', 'To read everything of commissions'],
    ['interrupted', '■ interrupted'],
    ['skipped', 'another process syncs it'],
    ['skipped', 'It read nothing.'],
    ['running', 'still running; last saved'],
    ['running', 'Whether it missed anything is known at its end.'],
  ] as const)('that is %s says: %s', async (run, words) => {
    expect((await lookAt(run)).text).toContain(words);
  });

  test('shows where the program differs from its contract', async () => {
    const { html } = await lookAt('partial');
    expect(sectionOf(html, 'drift').rows).toContainEqual([
      'customer.email',
      'another type than the contract says',
      'number',
      '2',
    ]);
  });

  test('shows its rejected records: the field that is wrong, and the reason to whoever may see people', async () => {
    const masked = sectionOf((await lookAt('partial')).html, 'rejected');
    expect(masked.rows.map(([, record, , field]) => [record, field])).toEqual([
      ['r1', 'customer.email'],
      ['no usable identifier', '–'],
    ]);
    const full = sectionOf((await lookAt('partial', true)).html, 'rejected');
    expect(full.rows[0]?.[3]).toContain('customer.email: expected string, got');
    expect(full.rows[1]?.[3]).toContain('secret words of no form');
  });

  test('shows all that it held back, page by page, each row once', async () => {
    const asked = { params: { id: String(RUNS.partial) }, section: 'held-back' };
    const found = await readToEnd(database.pool, runPage, asked);
    expect(found).toHaveLength(60);
    expect(new Set(found).size).toBe(60);
    const { html } = await lookAt('partial', true);
    expect(sectionOf(html, 'held-back').text).toContain('affiliate-mirror deletions list referrals');
  });

  test('shows all that it rejected, page by page, each record once', async () => {
    const { pool } = await createTestDatabase();
    await pool.query(`
      insert into sync_runs (resource, mode, state, finished_at) values ('referrals', 'full', 'partial', now());
      insert into rejected_records (run_id, resource, record_id, reason, payload, observed_at)
      select 1, 'referrals', 'r' || n, 'x: expected string', '{}', now() from generate_series(1, 120) n`);
    const found = await readToEnd(pool, runPage, { params: { id: '1' }, section: 'rejected' });
    expect(found).toEqual(Array.from({ length: 120 }, (_, place) => String(place + 1)));
  });
});
