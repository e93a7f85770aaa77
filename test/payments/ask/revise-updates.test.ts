// Retrying and cancelling what was asked for.

import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { requestUpdates } from '../../../src/payments/ask/request-updates.ts';
import { cancelUpdates, retryUpdates } from '../../../src/payments/ask/revise-updates.ts';
import { plainRequest } from '../../../src/payments/update-request.ts';
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

  async function failedPay(): Promise<{ failed: number; commission_id: string }> {
    const commission_id = newId();
    const [request] = await ask({ commission_id, action: 'pay', paid_at: AT });
    await endAs(request?.id, 'failed');
    return { failed: request?.id ?? 0, commission_id };
  }

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

  const CHANGED = ['pending', 'applied', 'unchanged'];
  const NOTHING = ['conflict', 'not_found', 'rejected', 'failed', 'superseded', 'cancelled'];
  test('that failed is retried unless a later one for the same value changed it', async () => {
    for (const state of [...CHANGED, ...NOTHING]) {
      const { failed, commission_id } = await failedPay();
      const [later] = await ask({ commission_id, action: 'unpay' });
      if (state !== 'pending') await endAs(later?.id, state);
      const { ids } = await retryUpdates(ledger.db, { kind: 'requests', ids: [failed] });
      expect(ids, state).toEqual(CHANGED.includes(state) ? [] : [failed]);
    }
    const { failed, commission_id } = await failedPay();
    const [due] = await ask({ commission_id, action: 'due', due_at: AT });
    await endAs(due?.id, 'applied');
    const { ids } = await retryUpdates(ledger.db, { kind: 'requests', ids: [failed] });
    expect(ids).toEqual([failed]);
  });

  test('that ended otherwise is neither retried nor cancelled', async () => {
    for (const state of ['applied', 'unchanged', 'conflict', 'superseded', 'cancelled']) {
      const [request] = await ask({ commission_id: newId(), action: 'unpay' });
      await endAs(request?.id, state);
      const selection = { kind: 'requests', ids: [request?.id ?? 0] } as const;
      const untouched = { ids: [], left: [] };
      expect(await retryUpdates(ledger.db, selection), state).toEqual(untouched);
      expect(await cancelUpdates(ledger.db, selection, 'finance'), state).toEqual(untouched);
    }
  });

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

  test.each([
    [
      'waits for its turn',
      `insert into commission_updates (commission_id, action) values (gen_random_uuid(), 'unpay')`,
    ],
    ['is being written', 'lock table commission_updates in exclusive mode'],
  ])('that is given up while it %s is not queued, and says why it was given up', async (_, statement) => {
    const commission_id = newId();
    const stop = new AbortController();
    let givenUp: Promise<void> | undefined;
    await beside(async (client) => {
      await client.query(statement);
      const asked = requestUpdates({ db: ledger.db }, [plainRequest({ commission_id, action: 'unpay' })], {
        batchId: null,
        requestedBy: null,
        signal: stop.signal,
      });
      givenUp = expect(asked).rejects.toThrow('Ctrl-C');
      await expect.poll(() => countWaiting(ledger.database.pool)).toBe(1);
      stop.abort(new Error('Ctrl-C'));
    });
    await givenUp;
    const { rows } = await ledger.database.pool.query(
      'select from commission_updates where commission_id = $1',
      [commission_id],
    );
    expect(rows).toEqual([]);
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

  test('that waits can be cancelled, also one of a writer that was killed; not one that is applied or may have arrived', async () => {
    const unpay = () => ({ commission_id: newId(), action: 'unpay' }) as const;
    const asked = await ask(unpay(), unpay(), unpay(), unpay(), unpay());
    const [waiting = 0, busy = 0, left = 0, sent = 0, sending = 0] = asked.map(({ id }) => id);
    const claim = (ids: readonly number[], until: string) =>
      ledger.database.pool.query(
        `update commission_updates set claimed_by = 'w', claimed_until = now() + $2::interval where id = any($1)`,
        [ids, until],
      );
    await claim([busy, sending], '1 minute');
    await claim([left, sent], '-1 minute');
    // As a writer leaves it that was killed after it sent the change.
    await ledger.database.pool.query('update commission_updates set put_sent_at = now() where id = any($1)', [
      [sent, sending],
    ]);
    const ids = [left, waiting, busy, sent, sending];
    const { ids: cancelled, left: kept } = await cancelUpdates(
      ledger.db,
      { kind: 'requests', ids },
      'finance',
    );
    expect(cancelled).toEqual([waiting, left]);
    expect(kept.toSorted((a, b) => a.id - b.id)).toEqual([
      { id: busy, reason: 'it is being applied right now' },
      {
        id: sent,
        reason: expect.stringMatching(/^its change may have reached the affiliate program already/),
      },
      { id: sending, reason: 'it is being applied right now' },
    ]);
    const { rows } = await ledger.database.pool.query(
      'select state, outcome, claimed_by from commission_updates where id = any($1) order by id',
      [[waiting, busy, left]],
    );
    const outcome = 'cancelled by finance before anything was sent';
    expect(rows).toEqual([
      { state: 'cancelled', outcome, claimed_by: null },
      { state: 'pending', outcome: null, claimed_by: 'w' },
      { state: 'cancelled', outcome, claimed_by: null },
    ]);
  });

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
});
