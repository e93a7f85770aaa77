// The run log and the page of one run, in each state that a run can be in.

import { beforeAll, describe, expect, test } from 'vitest';
import { runView } from '../../../src/web/views/run.ts';
import { runsView } from '../../../src/web/views/runs.ts';
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
  await visit(database.pool, runView, { params: { id: String(RUNS[run]) }, mayReadPeople });

describe('the run log', () => {
  test('of a mirror that was never synced says how to begin', async () => {
    const { text, content } = await visit(empty.pool, runsView);
    expect(text).toContain('Nothing was synced yet');
    expect(text).toContain('affiliate-mirror sync');
    expect(content.status).toBeUndefined();
  });

  test('has every run with its state, newest first, and its address', async () => {
    const { html } = await visit(database.pool, runsView);
    const { rows } = sectionOf(html, 'run-log');
    expect(rows.map(([id]) => Number(id))).toEqual(Object.values(RUNS).toReversed());
    expect(rows.find(([id]) => id === String(RUNS.failed))?.join(' | ')).toContain(
      '✕ failed API_UNAVAILABLE',
    );
    expect(html).toContain(`<a href="/site/runs/${RUNS.failed}">`);
  });

  test('narrows by resource and state, the charts too, and says where none fits', async () => {
    const { html } = await visit(database.pool, runsView, {
      query: { resource: 'referrals', state: 'failed' },
    });
    expect(sectionOf(html, 'run-log').rows.map(([id]) => Number(id))).toEqual([RUNS.failed]);
    expect(html.match(/<g class="run">/g)).toHaveLength(3);
    expect(html).toContain('<option selected>referrals</option>');
    const none = await visit(database.pool, runsView, {
      query: { resource: 'commissions', state: 'failed' },
    });
    expect(none.text).toContain('No run matches.');
  });
});

describe('a run', () => {
  test('shows its counts, and that they add up', async () => {
    const { html, text } = await lookAt('usual');
    expect(sectionOf(html, 'counts').text).toContain(
      '1,234 read = 1,000 inserted + 200 updated + 30 unchanged + 0 rejected + 4 read again The counts add up: the five come to 1,234.',
    );
    expect(text).toContain('this is attempt 2');
    expect(text).toContain('Verified: it missed nothing (1,230 different records seen, the API says 1,230)');
    expect(text).toContain('Full: to read all affiliates');
  });

  test('that failed says with what, and what the code means', async () => {
    const { text } = await lookAt('failed');
    // What the program said may be about a person.
    expect(text).not.toContain('the program answered 503');
    expect(text).toContain('API_UNAVAILABLE The API answered 5xx or 408.');
    expect(text).toContain('Not verified: it may have missed records');
    expect(text).toContain('Run: affiliate-mirror doctor If it fails again: ask the API');
    expect(text).toContain('None of those that it loaded before it ended.');
  });

  test('that failed before it stored anything does not say that every record could be stored', async () => {
    const { rows } = await empty.pool.query(
      `insert into sync_runs (resource, mode, state, finished_at, error_code)
       values ('referrals', 'full', 'failed', now(), 'DB_REFUSED') returning id`,
    );
    const { text } = await visit(empty.pool, runView, { params: { id: String(rows[0].id) } });
    expect(text).toContain('None: it stored no record.');
    expect(text).toMatch(/DB_REFUSED Postgres refused a statement .* Run: affiliate-mirror sync referrals/);
  });

  test.each([
    ['delta', 'It expected to need 3 requests; reading everything takes 61.'],
    ['delta', '1 affiliate had counters that moved'],
    ['delta', 'Verified: it missed nothing of the lists that it read. The next full sync sees the changes'],
    ['commissions', '12 commissions were open; 4 of them no longer are.'],
    ['commissions', 'Full: to read all commissions'],
    ['interrupted', '■ interrupted'],
    ['skipped', 'another process syncs it'],
    ['skipped', 'It read nothing.'],
    ['running', 'still running; last saved'],
    ['running', 'It is verified at its end.'],
  ] as const)('that is %s says: %s', async (run, words) => {
    expect((await lookAt(run)).text).toContain(words);
  });

  test('shows its rejected records: the field that is wrong, and the reason to whoever may see people', async () => {
    const masked = sectionOf((await lookAt('partial')).html, 'rejected');
    expect(masked.rows.map(([, record, , field]) => [record, field])).toEqual([
      ['r1', 'customer.email'],
      ['no usable identifier', '–'],
      ['r2', 'the database refused it (of_a_dba, SQLSTATE 23514)'],
    ]);
    const full = sectionOf((await lookAt('partial', true)).html, 'rejected');
    expect(full.rows[0]?.[3]).toContain('customer.email: expected string, got');
    expect(full.rows[1]?.[3]).toContain('secret words of no form');
  });

  test('shows all that it held back, page by page, each row once', async () => {
    const asked = { params: { id: String(RUNS.partial) }, section: 'held-back' };
    const found = await readToEnd(database.pool, runView, asked);
    expect(found).toHaveLength(60);
    expect(new Set(found).size).toBe(60);
    const { html } = await lookAt('partial', true);
    expect(sectionOf(html, 'held-back').text).toContain('affiliate-mirror deletions list referrals');
  });
});
