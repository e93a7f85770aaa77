// The views of operations against rows that were put there: payments, drift from the contract, and known commissions.

import { beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let pool: TestDatabase['pool'];

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
});

const select = async (text: string) => (await pool.query(text)).rows;

describe('contract_drift', () => {
  const run = async (resource: string, mode: string, state = 'succeeded', plan = '{}') => {
    const { rows } = await pool.query<{ id: number }>(
      `insert into sync_runs (resource, mode, state, verified, finished_at, plan)
       values ($1, $2, $3, $3 = 'succeeded', now(), $4) returning id`,
      [resource, mode, state, plan],
    );
    return rows[0]?.id ?? 0;
  };
  const drift = (id: number, resource: string, field: string) =>
    pool.query(
      `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, $2, $3, 'appeared', 1)`,
      [id, resource, field],
    );
  const delta = () => run('referrals', 'delta', 'succeeded', '{"strategy": "delta"}');

  test('is what the last whole run noticed, and every run since: each difference once, with its last run', async () => {
    const before = await run('referrals', 'full');
    await drift(before, 'referrals', 'gone');
    const whole = await run('referrals', 'full');
    await drift(whole, 'referrals', 'tier');
    await drift(whole, 'referrals', 'rank');
    const last = await delta();
    await drift(last, 'referrals', 'tier');
    await drift(await run('referrals', 'full', 'failed'), 'referrals', 'half_read');
    expect(await select('select field, run_id from contract_drift order by field')).toEqual([
      { field: 'rank', run_id: whole },
      { field: 'tier', run_id: last },
    ]);
  });
});

describe('commission_coverage', () => {
  test('counts known commissions: those to ask for now, those unanswered, and those that are gone', async () => {
    await pool.query(`
      insert into tracked_commissions (commission_id, next_poll_at, last_error) values
        ('due', now() - interval '1 minute', 'no answer'),
        ('due-too', now() - interval '1 second', null),
        ('later', now() + interval '1 hour', null),
        ('gone', null, null)`);
    const coverage =
      'select is_used, tracked, due_polls, unanswered, gone, differences from commission_coverage';
    const counts = { tracked: 3, unanswered: 1, gone: 1, differences: null };
    expect(await select(coverage)).toEqual([{ ...counts, is_used: false, due_polls: 2 }]);
    await pool.query(`update optional_lists set setting = 'on'`);
    expect(await select(coverage), 'the list brings them').toEqual([
      { ...counts, is_used: true, due_polls: 0 },
    ]);
  });

  test('compares sums once all commissions were read, and verified', async () => {
    const differences = async () =>
      (await select('select differences from commission_coverage'))[0].differences;
    const run = (values: string) =>
      pool.query(
        `insert into sync_runs (resource, mode, state, verified, finished_at, plan) values (${values})`,
      );
    await pool.query(`update optional_lists set setting = 'on'`);
    await run(`'affiliates', 'full', 'succeeded', true, now(), null`);
    await run(`'commissions', 'delta', 'succeeded', true, now(), '{"strategy": "delta"}'`);
    await run(`'commissions', 'full', 'partial', false, now(), null`);
    expect(await differences()).toBe(null);
    await run(`'commissions', 'full', 'succeeded', true, now(), null`);
    expect(await differences()).toBe(0);
    await pool.query(`update optional_lists set setting = 'off'`);
    expect(await differences()).toBe(null);
  });
});
