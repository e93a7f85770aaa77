// Retrying and cancelling what was asked for.

import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { requestUpdates } from '../../../src/commissions/requests/request-updates.ts';
import { cancelUpdates, retryUpdates } from '../../../src/commissions/requests/revise-updates.ts';
import { plainRequest } from '../../../src/commissions/update-request.ts';
import { countWaiting } from '../../support/count-waiting.ts';
import { AT, useLedger } from './use-ledger.ts';

const { ledger, newId, ask, heardDuring } = useLedger();

describe('a request', () => {
  async function endAs(id: number | undefined, state: string): Promise<void> {
    await ledger.database.pool.query(
      `update commission_updates set state = $2, outcome = 'so it ended', finished_at = now() where id = $1`,
      [id, state],
    );
  }

  async function statesOf(...ids: (number | undefined)[]): Promise<readonly string[]> {
    const { rows } = await ledger.database.pool.query<{ state: string }>(
      'select state from commission_updates where id = any($1) order by id',
      [ids],
    );
    return rows.map(({ state }) => state);
  }

  async function failedPay(): Promise<{ failed: number; commission_id: string }> {
    const commission_id = newId();
    const [request] = await ask({ commission_id, action: 'pay', paid_at: AT });
    await endAs(request?.id, 'failed');
    return { failed: request?.id ?? 0, commission_id };
  }

  test('that failed can be retried, unless a later one for the same value has overtaken it', async () => {
    const [alone, overtaken, other] = await ask(
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
    );
    for (const request of [alone, overtaken, other]) await endAs(request?.id, 'failed');
    const commissionOf = async (id: number | undefined): Promise<string> => {
      const found = await ledger.database.pool.query(
        'select commission_id from commission_updates where id = $1',
        [id],
      );
      return found.rows[0].commission_id;
    };
    // Another value of the commission than the one that was to be taken back.
    const [due, pay] = await ask(
      { commission_id: await commissionOf(other?.id), action: 'due', due_at: AT },
      { commission_id: await commissionOf(overtaken?.id), action: 'pay', paid_at: AT },
    );
    await endAs(due?.id, 'applied');
    await endAs(pay?.id, 'applied');
    const ids = [other, overtaken, alone].map((request) => request?.id ?? 0);
    expect(await retryUpdates(ledger.db, { kind: 'requests', ids })).toEqual({
      ids: [alone?.id, other?.id],
      left: [
        {
          id: overtaken?.id,
          reason: `request ${pay?.id} came later and asks otherwise: make a new request instead`,
        },
      ],
    });
    expect(await statesOf(...ids)).toEqual(['pending', 'failed', 'pending']);
  });

  test('that is retried is due at once with all its tries, as if nothing had come of it, and wakes the workers', async () => {
    const { failed } = await failedPay();
    await ledger.database.pool.query(
      `update commission_updates set attempts = 9, next_attempt_at = now() + interval '1 hour' where id = $1`,
      [failed],
    );
    expect(await heardDuring(() => retryUpdates(ledger.db, { kind: 'requests', ids: [failed] }))).toEqual([
      'mirror',
    ]);
    const { rows } = await ledger.database.pool.query(
      `select state, outcome, finished_at, attempts, next_attempt_at <= now() as is_due
       from commission_updates where id = $1`,
      [failed],
    );
    expect(rows).toEqual([{ state: 'pending', outcome: null, finished_at: null, attempts: 0, is_due: true }]);
  });

  test.each(['pending', 'applied', 'unchanged'])(
    'that failed is not retried where a later one is %s',
    async (state) => {
      const { failed, commission_id } = await failedPay();
      const [later] = await ask({ commission_id, action: 'unpay' });
      if (state !== 'pending') await endAs(later?.id, state);
      expect(await retryUpdates(ledger.db, { kind: 'requests', ids: [failed] })).toMatchObject({ ids: [] });
      expect(await statesOf(failed)).toEqual(['failed']);
    },
  );

  test.each(['conflict', 'not_found', 'rejected', 'failed', 'superseded', 'cancelled'])(
    'that failed is retried where the later one ended as %s: it changed nothing',
    async (state) => {
      const { failed, commission_id } = await failedPay();
      const [later] = await ask({ commission_id, action: 'unpay' });
      await endAs(later?.id, state);
      expect(await retryUpdates(ledger.db, { kind: 'requests', ids: [failed] })).toEqual({
        ids: [failed],
        left: [],
      });
    },
  );

  /** Begins a transaction for `work`, and ends it. */
  async function beside(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    const client = await ledger.database.pool.connect();
    try {
      await client.query('begin');
      await work(client);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  /** Asks for a request that has to wait, and gives it up once it does. */
  async function giveUp(commission_id: string): Promise<{ asked: Promise<unknown> }> {
    const stop = new AbortController();
    const asked = requestUpdates({ db: ledger.db }, [plainRequest({ commission_id, action: 'unpay' })], {
      batchId: null,
      requestedBy: null,
      signal: stop.signal,
    });
    asked.catch(() => undefined);
    await expect.poll(() => countWaiting(ledger.database.pool)).toBe(1);
    stop.abort(new Error('Ctrl-C'));
    return { asked };
  }

  async function expectNotQueued(commission_id: string): Promise<void> {
    const { rows } = await ledger.database.pool.query(
      'select from commission_updates where commission_id = $1',
      [commission_id],
    );
    expect(rows).toEqual([]);
  }

  test('that is given up while it waits for its turn is not queued, and says why it was given up', async () => {
    const commission_id = newId();
    await beside(async (client) => {
      await client.query(`insert into commission_updates (commission_id, action) values ($1, 'unpay')`, [
        newId(),
      ]);
      const { asked } = await giveUp(commission_id);
      // At once, and not when the other one ends.
      await expect(asked).rejects.toThrow('Ctrl-C');
    });
    await expectNotQueued(commission_id);
  });

  test('that is given up while it is being written is not queued', async () => {
    const commission_id = newId();
    let givenUp: { asked: Promise<unknown> } | undefined;
    await beside(async (client) => {
      await client.query('lock table commission_updates in exclusive mode');
      givenUp = await giveUp(commission_id);
    });
    await expect(givenUp?.asked).rejects.toThrow('Ctrl-C');
    await expectNotQueued(commission_id);
  });

  test('that is asked for while others are retried waits until they are pending again', async () => {
    const [first, second] = [await failedPay(), await failedPay()];
    const order: string[] = [];
    await beside(async (holder) => {
      // Stops the retry in the middle of its statement, when it has begun to read.
      await holder.query('select from commission_updates where id = $1 for update', [first.failed]);
      const retrying = retryUpdates(ledger.db, { kind: 'requests', ids: [first.failed, second.failed] });
      const both = [retrying.then(() => order.push('retried'))];
      await expect.poll(() => countWaiting(ledger.database.pool)).toBe(1);
      both.push(
        ask({ commission_id: second.commission_id, action: 'unpay' }).then(() => order.push('asked')),
      );
      await expect.poll(async () => order.length + (await countWaiting(ledger.database.pool))).toBe(2);
      await holder.query('commit');
      await Promise.all(both);
    });
    expect(order).toEqual(['retried', 'asked']);
  });

  test('that is being asked for overtakes the one that is retried meanwhile', async () => {
    const { failed, commission_id } = await failedPay();
    await beside(async (asking) => {
      const { rows } = await asking.query<{ id: number }>(
        `insert into commission_updates (commission_id, action) values ($1, 'unpay') returning id`,
        [commission_id],
      );
      let isDone = false;
      const retrying = retryUpdates(ledger.db, { kind: 'requests', ids: [failed] }).finally(() => {
        isDone = true;
      });
      await expect.poll(async () => isDone || (await countWaiting(ledger.database.pool)) === 1).toBe(true);
      await asking.query('commit');
      expect(await retrying).toEqual({
        ids: [],
        left: [{ id: failed, reason: expect.stringContaining(`request ${rows[0]?.id} came later`) }],
      });
    });
  });

  test('that waits can be cancelled, also one of a writer that was killed, and one that is being applied cannot', async () => {
    const [waiting, busy, left] = await ask(
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
    );
    const claim = (id: number | undefined, until: string) =>
      ledger.database.pool.query(
        `update commission_updates set claimed_by = 'w', claimed_until = now() + $2::interval where id = $1`,
        [id, until],
      );
    await claim(busy?.id, '1 minute');
    await claim(left?.id, '-1 minute');
    const ids = [left, waiting, busy].map((request) => request?.id ?? 0);
    expect(await cancelUpdates(ledger.db, { kind: 'requests', ids }, 'finance')).toEqual({
      ids: [waiting?.id, left?.id],
      left: [{ id: busy?.id, reason: 'it is being applied right now' }],
    });
    const { rows } = await ledger.database.pool.query(
      'select state, outcome, claimed_by from commission_updates where id = any($1) order by id',
      [ids],
    );
    const cancelled = { state: 'cancelled', outcome: 'cancelled by finance before anything was sent' };
    expect(rows).toEqual([
      { ...cancelled, claimed_by: null },
      { state: 'pending', outcome: null, claimed_by: 'w' },
      { ...cancelled, claimed_by: null },
    ]);
  });

  test.each(['applied', 'unchanged', 'conflict', 'superseded', 'cancelled'])(
    'that ended as %s is neither retried nor cancelled',
    async (state) => {
      const [request] = await ask({ commission_id: newId(), action: 'unpay' });
      await endAs(request?.id, state);
      const selection = { kind: 'requests', ids: [request?.id ?? 0] } as const;
      const untouched = { ids: [], left: [] };
      expect(await retryUpdates(ledger.db, selection)).toEqual(untouched);
      expect(await cancelUpdates(ledger.db, selection, 'finance')).toEqual(untouched);
    },
  );

  test('that a writer claims while it is to be cancelled is applied', async () => {
    const [request] = await ask({ commission_id: newId(), action: 'unpay' });
    await beside(async (writer) => {
      await writer.query(
        `update commission_updates set claimed_by = 'w', claimed_until = now() + interval '1 minute' where id = $1`,
        [request?.id],
      );
      const cancelling = cancelUpdates(ledger.db, { kind: 'requests', ids: [request?.id ?? 0] }, 'finance');
      await expect.poll(() => countWaiting(ledger.database.pool)).toBe(1);
      await writer.query('commit');
      expect(await cancelling).toEqual({
        ids: [],
        left: [{ id: request?.id, reason: 'it is being applied right now' }],
      });
    });
  });

  test('that may have arrived cannot be cancelled, and is not said to be applied right now', async () => {
    const [request] = await ask({ commission_id: newId(), action: 'unpay' });
    const cancel = () =>
      cancelUpdates(ledger.db, { kind: 'requests', ids: [request?.id ?? 0] }, 'finance').then(
        ({ left }) => left,
      );
    // As a writer leaves it that was killed after it sent the change.
    await ledger.database.pool.query(
      `update commission_updates set put_sent_at = now(), claimed_by = 'w', claimed_until = now() + interval '1 minute'
       where id = $1`,
      [request?.id],
    );
    expect(await cancel()).toEqual([{ id: request?.id, reason: 'it is being applied right now' }]);
    await ledger.database.pool.query('update commission_updates set claimed_until = now() where id = $1', [
      request?.id,
    ]);
    expect(await cancel()).toEqual([
      {
        id: request?.id,
        reason: expect.stringMatching(/^its change may have reached the program already/),
      },
    ]);
  });
});
