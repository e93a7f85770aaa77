// The views of operations against rows that were put there: payments, drift from the contract, and known commissions.

import { beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let pool: TestDatabase['pool'];

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
});

const select = async (text: string) => (await pool.query(text)).rows;

describe('payment_states', () => {
  const COMMISSION = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
  const ask = (more: string) =>
    pool.query(
      `insert into commission_updates (commission_id, action) values ('${COMMISSION}', 'unpay');
       update commission_updates set ${more} where id = (select max(id) from commission_updates)`,
    );
  const pending = () =>
    select(`select requests, needing_attention as needing, needing_attention_since = (
        select min(next_attempt_at) from commission_updates where state = 'pending') as is_since_due
      from payment_states where state = 'pending'`);

  test('has a pending request neglected once it is due for five minutes', async () => {
    await ask(`next_attempt_at = now() - interval '270 seconds'`);
    expect(await pending()).toEqual([{ requests: 1, needing: 0, is_since_due: null }]);
    await pool.query(`update commission_updates set next_attempt_at = now() - interval '301 seconds'`);
    expect(await pending()).toEqual([{ requests: 1, needing: 1, is_since_due: true }]);
  });

  test('waits for no older request of the commission that has ended, nor for the claim of one', async () => {
    await ask(`state = 'applied', outcome = 'done', finished_at = now(), claimed_by = 'a worker',
      claimed_until = now() + interval '1 minute'`);
    await ask(`next_attempt_at = now() - interval '1 hour'`);
    expect(await pending()).toMatchObject([{ needing: 1 }]);
  });

  test('has a request neglected whose worker was killed: its claim has ended', async () => {
    await ask(`next_attempt_at = now() - interval '1 hour', claimed_by = 'a worker', attempts = 1,
      claimed_until = now() - interval '1 minute'`);
    expect(await pending()).toMatchObject([{ needing: 1 }]);
  });
});

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

  test('of one resource is not settled by a run of another', async () => {
    await drift(await run('affiliates', 'full'), 'affiliates', 'nickname');
    await drift(await delta(), 'referrals', 'tier');
    await run('affiliates', 'delta');
    expect(await select('select resource, field from contract_drift')).toEqual([
      { resource: 'referrals', field: 'tier' },
    ]);
    await drift(await run('affiliates', 'full'), 'affiliates', 'nickname');
    await run('referrals', 'full');
    expect(await select('select resource, field from contract_drift')).toEqual([
      { resource: 'affiliates', field: 'nickname' },
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
