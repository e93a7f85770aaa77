// Asking for updates: in which order, how often, and whom that wakes.

import { describe, expect, test } from 'vitest';
import { type AskedUpdate, foreseeAnswers } from '../../../src/payments/ask/request-updates.ts';
import { contentKey, plainRequest, type UpdateRequest } from '../../../src/payments/update-request.ts';
import { countWaiting } from '../../support/count-waiting.ts';
import { AT, useLedger } from './use-ledger.ts';

const { ledger, newId, ask, insert, heardDuring } = useLedger();

test('whoever asks wakes the workers, once per statement', async () => {
  const requests = [newId(), newId()].map((commission_id) => ({ commission_id, action: 'unpay' }) as const);
  expect(await heardDuring(() => ask(...requests))).toEqual(['mirror']);
});

test('requests are numbered in the order in which their transactions asked', async () => {
  const commissionId = newId();
  const first = await ledger.database.pool.connect();
  await first.query('begin');
  const insertion = 'insert into commission_updates (commission_id, action) values ($1, $2) returning id';
  const a = await first.query<{ id: number }>(insertion, [commissionId, 'unpay']);
  const second = insert({ commission_id: commissionId, action: 'pay', paid_at: AT });
  // The second one waits for its turn: its number is given only when the first one is visible.
  await expect.poll(() => countWaiting(ledger.database.pool)).toBe(1);
  await first.query('commit');
  first.release();
  expect(await second).toBeGreaterThan(a.rows[0]?.id ?? Number.POSITIVE_INFINITY);
});

describe('asking from Node', () => {
  test.each([' padded ', '\ttabbed\r\n', '\t \n'])(
    'goes by the key %j as the table keeps it',
    async (key) => {
      const request = plainRequest({ commission_id: newId(), action: 'unpay', idempotency_key: key });
      const [first] = await ask(request);
      expect(first).toMatchObject({ id: expect.any(Number), isNew: true, state: 'pending' });
      const isBlank = key.trim() === '';
      const [again] = await ask(request);
      expect(again).toMatchObject({ isNew: isBlank, state: 'pending' });
      expect(again?.id === first?.id).toBe(!isBlank);
      const [found] = await foreseeAnswers(ledger.db, [request]);
      expect(found?.id).toBe(isBlank ? null : first?.id);
    },
  );

  test('what differs for the table has another content key, and what does not has the same', async () => {
    const OTHER = '2026-10-02T00:00:00Z';
    const cases: [Partial<UpdateRequest> & Pick<UpdateRequest, 'action'>, Partial<UpdateRequest>[]][] = [
      [
        { action: 'pay', paid_at: AT, expected_unpaid: true },
        [
          { reason: 'another' },
          { paid_at: OTHER },
          { expected_unpaid: false },
          { expected_amount: 1 },
          { expected_currency: 'EUR' },
          { even_if_refunded: true },
          { supersede: true },
        ],
      ],
      [{ action: 'due', due_at: AT }, [{ due_at: OTHER }, { action: 'unpay', due_at: null }]],
      [{ action: 'unpay' }, [{ expected_paid_at: AT }, { commission_id: newId() }]],
    ];
    for (const [fields, changes] of cases) {
      const base = plainRequest({ commission_id: newId(), ...fields });
      const asked = { ...base, idempotency_key: contentKey(base) };
      await ask(asked);
      for (const change of changes) {
        const [found] = await foreseeAnswers(ledger.db, [{ ...asked, ...change }]);
        const hasSameKey = contentKey({ ...base, ...change }) === contentKey(base);
        expect([change, hasSameKey]).toEqual([change, 'reason' in change]);
        expect([change, found?.answer]).toEqual([change, hasSameKey ? 'waits' : 'key taken']);
      }
    }
  });

  test('a dry run answers as asking does, and asks for nothing', async () => {
    const pay = (fields: Partial<AskedUpdate>) =>
      plainRequest({ commission_id: newId(), action: 'pay', paid_at: AT, ...fields });
    const [named, keyless, undone] = [
      pay({ idempotency_key: `named ${newId()}` }),
      pay({}),
      pay({ idempotency_key: newId() }),
    ];
    const [first, second] = await ask(named, keyless, undone);
    const [undoing] = await ask({ commission_id: undone.commission_id, action: 'unpay' });
    const rows = [
      named,
      { ...keyless, unless_waiting: true },
      keyless,
      undone,
      { ...pay({}), same_as: second?.id ?? null },
      pay({}),
    ];
    const expected = [
      { answer: 'waits', id: first?.id },
      { answer: 'waits', id: second?.id },
      { answer: 'new', behind: second?.id, behind_action: 'pay' },
      { answer: 'overtaken', overtaken_by: undoing?.id },
      { answer: 'waits', id: second?.id },
      { answer: 'new', behind: null },
    ];
    expect(await foreseeAnswers(ledger.db, rows)).toMatchObject(expected);
    expect(await ask(...rows)).toMatchObject(expected);
    // Had the dry run asked, the numbers would have gone on.
    const { rows: counted } = await ledger.database.pool.query(
      'select count(*)::int as requests from commission_updates where commission_id = any($1)',
      [rows.map(({ commission_id }) => commission_id)],
    );
    expect(counted).toEqual([{ requests: 6 }]);
  });

  test('rows with one key are one request, and each row gets the number of its own', async () => {
    const request = { commission_id: newId(), action: 'unpay', idempotency_key: `one ${newId()}` } as const;
    const other = { commission_id: newId(), action: 'unpay' } as const;
    const [a, b, c] = await ask(request, request, other);
    expect(b?.id).toBe(a?.id);
    const { rows } = await ledger.database.pool.query(
      'select id from commission_updates where commission_id = $1',
      [other.commission_id],
    );
    expect(rows).toEqual([{ id: c?.id }]);
  });

  test('SQL: ask_for_updates takes a row as anybody writes it, and refuses all for one key that is taken', async () => {
    const commission_id = newId();
    const row = {
      commission_id: ` ${commission_id.toUpperCase()}`,
      action: 'unpay',
      idempotency_key: ` k ${commission_id}`,
    };
    const call = (rows: object[]) =>
      ledger.database.pool.query('select answer, request from ask_for_updates($1, $2)', [
        JSON.stringify(rows),
        'sql',
      ]);
    const { rows: first } = await call([row]);
    expect(first).toEqual([{ answer: 'new', request: expect.any(Number) }]);
    expect((await call([row])).rows).toEqual([{ ...first[0], answer: 'waits' }]);
    const good = newId();
    const taken = { ...row, action: 'pay', paid_at: AT };
    await expect(call([{ commission_id: good, action: 'unpay' }, taken])).rejects.toThrow(
      /names another request/,
    );
    const { rows: kept } = await ledger.database.pool.query(
      'select commission_id from commission_updates where commission_id = any($1)',
      [[good, commission_id]],
    );
    expect(kept).toEqual([{ commission_id }]);
  });

  test('SQL: the same row without a key, asked for by two transactions at once, is one request', async () => {
    const { pool } = ledger.database;
    const rows = JSON.stringify([{ commission_id: newId(), action: 'unpay', unless_waiting: true }]);
    const asking = 'select answer, request from ask_for_updates($1)';
    const first = await pool.connect();
    await first.query('begin');
    const { rows: asked } = await first.query(asking, [rows]);
    const second = pool.query(asking, [rows]);
    await expect.poll(() => countWaiting(pool)).toBe(1);
    await first.query('commit');
    first.release();
    expect((await second).rows).toEqual([{ answer: 'waits', request: asked[0]?.request }]);
  });

  test('the same requests from two processes at once are asked for once', async () => {
    const requests = Array.from({ length: 50 }, () => {
      const commission_id = newId();
      return { commission_id, action: 'unpay', idempotency_key: `twice ${commission_id}` } as const;
    });
    const [one, two] = await Promise.all([ask(...requests), ask(...requests)]);
    expect(one.map(({ id }) => id)).toEqual(two.map(({ id }) => id));
    expect([one, two].flat().filter(({ isNew }) => isNew).length).toBe(50);
  });
});
