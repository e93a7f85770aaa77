// The table of the payment ledger: what it takes, from whom, and what it refuses.

import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { AT, useLedger } from './use-ledger.ts';

const { ledger, newId, insert } = useLedger();
const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

describe('the table refuses', () => {
  const due = { action: 'due', due_at: AT };
  const pay = { action: 'pay', paid_at: AT };
  const unpay = { action: 'unpay' };
  test.each<[object, RegExp, RegExp?]>([
    [{ action: 'paid' }, /unknown action 'paid'/, /pay \(with paid_at\)/],
    [{ action: null }, /unknown action null/, /pay/],
    [{ action: 'pay' }, /paid_at is empty/, /unpay/],
    [{ ...unpay, paid_at: AT }, /unpay with a timestamp/, /Only pay takes paid_at/],
    [{ action: 'due' }, /blank due_at/, /never removed/],
    [{ ...pay, due_at: AT }, /due date/, /own/],
    [{ ...due, paid_at: AT }, /due with/, /pay/],
    [{ ...unpay, commission_id: '17' }, /'17' is not the identifier/, /UUID/],
    [{ ...unpay, commission_id: null }, /null is not the identifier/, /UUID/],
    [{ ...pay, paid_at: 'infinity' }, /beyond the years/],
    [{ ...unpay, expected_paid_at: 'infinity' }, /beyond the years/],
    [{ ...unpay, even_if_refunded: true }, /unpay with even_if_refunded/, /Only pay takes even_if_refunded/],
    [{ ...unpay, expected_unpaid: true, expected_paid_at: AT }, /unpaid and paid at once/, /not both/],
    [{ ...unpay, idempotency_key: 'k'.repeat(201) }, /an idempotency_key of 201 characters/, /at most 200/],
    [{ ...pay, payout_id: ID }, /for commission .* and for payout .* at once/, /two requests/],
    [
      { ...pay, payout_id: ID, commission_id: null },
      /payout .* is to be paid, and nothing else/,
      /no timestamp/,
    ],
    [
      { ...unpay, payout_id: ID, commission_id: null },
      /payout .* is to be paid, and nothing else/,
      /action pay/,
    ],
    [
      { action: 'pay', payout_id: '17', commission_id: null },
      /'17' is not the identifier of a payout/,
      /UUID/,
    ],
    [{ ...pay, expected_commissions: 3 }, /expected_commissions is set/, /Only a payout/],
    [{ ...unpay, state: 'applied' }, /starts out as pending/, /writer/],
  ])('%j, and says how to fix it', async (columns, message, hint) => {
    const failure = await insert({ commission_id: ID, ...columns }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(pg.DatabaseError);
    expect(failure).toMatchObject({ message: expect.stringMatching(message) });
    if (hint !== undefined) expect(failure).toMatchObject({ hint: expect.stringMatching(hint) });
  });

  test('a key that names another request, and the same request again does nothing', async () => {
    const first = { commission_id: newId(), action: 'pay', paid_at: AT, idempotency_key: 'invoice 7' };
    expect(await insert(first)).toBeGreaterThan(0);
    expect(await insert({ ...first, reason: 'said otherwise' })).toBe(0);
    await expect(insert({ ...first, paid_at: '2026-10-02T00:00:00Z' })).rejects.toThrow(
      /idempotency_key 'invoice 7' names another request already \(number \d+: pay of commission/,
    );
    const { rows } = await ledger.database.pool.query(
      `select count(*) as requests from commission_updates where idempotency_key = 'invoice 7'`,
    );
    expect(rows).toEqual([{ requests: 1 }]);
  });
});

test('a user who may only insert can ask, is named in the payment ledger, and can do nothing else', async () => {
  const role = `asker_${process.pid}`;
  const columns = `batch_id, commission_id, action, paid_at, due_at, expected_unpaid, expected_paid_at, expected_amount,
    expected_currency, reason, requested_by, idempotency_key, supersede`;
  const client = await ledger.database.pool.connect();
  try {
    await client.query(`create role ${role}`);
    await client.query(`grant usage on schema mirror to ${role}`);
    await client.query(`grant insert (${columns}) on mirror.commission_updates to ${role}`);
    await client.query(`set role ${role}`);
    const commissionId = newId();
    const insertion = `insert into commission_updates (commission_id, action, idempotency_key) values ($1, 'unpay', 'k9')`;
    expect((await client.query(insertion, [commissionId])).rowCount).toBe(1);
    expect((await client.query(insertion, [commissionId])).rowCount).toBe(0);
    await expect(client.query('select * from commission_updates')).rejects.toThrow(/permission denied/);
    await expect(
      client.query(
        `insert into commission_updates (commission_id, action, database_user) values ($1, 'unpay', 'boss')`,
        [commissionId],
      ),
    ).rejects.toThrow(/permission denied/);
    await client.query('reset role');
    const { rows } = await client.query(
      `select requested_by, database_user = session_user as is_true from commission_updates where idempotency_key = 'k9'`,
    );
    expect(rows).toEqual([{ requested_by: role, is_true: true }]);
  } finally {
    await client.query('reset role');
    await client.query(`drop owned by ${role}`);
    await client.query(`drop role ${role}`);
    client.release();
  }
});
