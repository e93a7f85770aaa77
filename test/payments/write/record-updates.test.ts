// A writer that was stopped or killed, and what it notes: it sends nothing late, overwrites nothing, and loses nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { valuesOf } from '../../../src/payments/update-request.ts';
import type { RecordedCall } from '../../../src/payments/write/attempt-lines.ts';
import { hasDueUpdates, makeClaims } from '../../../src/payments/write/claims.ts';
import { makeUpdateRecorder } from '../../../src/payments/write/record-updates.ts';
import { countAsleep, PAID_AT, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 5, referrals: 200 });

const onRefused = (_id: number, error: Error) => {
  throw error;
};

const UNPAID = {
  paid_at: null,
  due_at: null,
  amount: 1,
  currency: 'USD',
  state: null,
  voided_at: null,
  updated_at: PAID_AT,
};

/** Of a try that found nothing out. */
const NO_RESULT = {
  commissionId: '',
  end: null,
  before: null,
  after: null,
  lastError: null,
  mayBeSent: false,
  attempts: 0,
  waitMs: 0,
  calls: [],
  observed: null,
  goneAt: null,
};

/** Returns a GET that the program answered just now. */
function answered(): RecordedCall {
  const sent = {
    method: 'GET',
    path: '',
    status: 200,
    durationMs: 5,
    attempt: 1,
    endedAtMs: performance.now(),
    intentId: null,
  } as const;
  return { method: 'GET', sent: [sent], error: null, form: null, received: UNPAID, announced: [] };
}

async function askFor(count: number) {
  const { freshMany, ask } = writer();
  const commissions = await freshMany(count);
  return ask(
    ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
  );
}

/** Asks for a payment while nothing else is asked for. */
async function askAlone(): Promise<{ id: string; updateId: number }> {
  const { fresh, askToPay, drain } = writer();
  await drain();
  const { id } = await fresh();
  const [asked] = await askToPay([{ id }]);
  return { id, updateId: asked?.id ?? 0 };
}

test('a claim that was taken over lets nothing be sent and nothing be settled, yet what was sent is kept', async () => {
  const { fresh, askToPay, db, row, attempts, drain } = writer();
  const { id } = await fresh();
  const [asked] = await askToPay([{ id }]);
  const frozen = makeClaims(db, { name: 'frozen', claimMs: 1, onRefused });
  const next = makeClaims(db, { name: 'next', claimMs: 60_000, onRefused });
  expect(await frozen.claim(5)).toMatchObject([{ id: asked?.id }]);
  await expect.poll(() => next.claim(5)).toMatchObject([{ id: asked?.id }]);
  // Which no other writer gets while its claim holds.
  expect(await makeClaims(db, { name: 'third', claimMs: 1, onRefused }).claim(5)).toEqual([]);

  const recorder = makeUpdateRecorder({ db }, 'frozen');
  const updateId = asked?.id ?? 0;
  expect(await recorder.intend({ updateId, before: UNPAID, form: 'paid_at=x' })).toBeNull();
  const isOurs = await recorder.settle({
    ...NO_RESULT,
    updateId,
    commissionId: id,
    end: { state: 'failed', outcome: 'late', note: null },
    lastError: 'late',
    attempts: 1,
    calls: [answered()],
  });
  expect(isOurs).toBe(false);
  expect(await row(asked?.id)).toMatchObject({
    state: 'pending',
    claimed_by: 'next',
    attempts: 0,
    last_error: null,
  });
  expect(await attempts(asked?.id)).toMatchObject([{ method: 'GET', status: 200 }]);

  await next.release([updateId]);
  expect(await drain()).toMatchObject({ ended: { applied: 1 } });
});

test('the line of a request that was taken over does not wait for its new writer: two would wait for each other', async () => {
  const { db, database, row, drain } = writer();
  const { pool } = database;
  const [taken, own, alone] = (await askFor(3)).map(({ id }) => id) as [number, number, number];
  const claims = makeClaims(db, { name: 'frozen', claimMs: 60_000, onRefused });
  expect(await claims.claim(3)).toHaveLength(3);
  await pool.query(`update commission_updates set claimed_by = 'next' where id = ${taken}`);
  // The new writer has locked the request, and is held up before its own line: for as long as the other one writes,
  // two seconds at most.
  await pool.query(`
    create function hold_up() returns trigger language plpgsql as $$
    begin
      for turns in 1..400 loop
        exit when exists (select from commission_updates where id = ${own} and state <> 'pending');
        perform pg_sleep(0.005);
      end loop;
      return null;
    end $$`);
  await pool.query(`
    create trigger hold_up after update on commission_updates for each row
    when (new.id = ${taken}) execute function hold_up()`);
  const ended: string[] = [];
  const settle = async (name: string, ids: readonly number[]) => {
    const { settle } = makeUpdateRecorder({ db }, name);
    const end = { state: 'failed', outcome: 'tried', note: null } as const;
    const results = ids.map((updateId) => settle({ ...NO_RESULT, updateId, end, calls: [answered()] }));
    const areOurs = await Promise.all(results);
    ended.push(name);
    return areOurs;
  };
  const next = settle('next', [taken]);
  await expect.poll(() => countAsleep(pool)).toBe(1);
  // The first is written alone, and the others meanwhile become a group.
  expect(await settle('frozen', [alone, own, taken])).toEqual([true, true, false]);
  expect(await next).toEqual([true]);
  expect(ended).toEqual(['frozen', 'next']);
  expect(await row(own)).toMatchObject({ state: 'failed' });
  await pool.query('drop function hold_up() cascade');
  await drain();
});

test('a claim that ends while it is extended is not held again', async () => {
  const [asked] = await askFor(1);
  const id = asked?.id ?? 0;
  const claims = makeClaims(writer().db, { name: 'extending', claimMs: 60_000, onRefused });
  expect(await claims.claim(5)).toMatchObject([{ id }]);
  const extended = claims.extend();
  claims.forget(id);
  await extended;
  expect(claims.hasTimeLeft(id)).toBe(false);
  await claims.release([id]);
  await writer().drain();
});

test('in the last tenth of a claim nothing more is sent: others may claim the request before it arrives', async () => {
  const [asked] = await askFor(1);
  const id = asked?.id ?? 0;
  const claims = makeClaims(writer().db, { name: 'late', claimMs: 2000, onRefused });
  expect(await claims.claim(5)).toMatchObject([{ id }]);
  expect(claims.hasTimeLeft(id)).toBe(true);
  await sleep(1850);
  expect(claims.hasTimeLeft(id)).toBe(false);
  await claims.release([id]);
  await writer().drain();
});

test('a writer that was frozen for longer than its claim does not claim again what it still works on', async () => {
  const { fresh, askToPay, db } = writer();
  const { id } = await fresh();
  const [asked] = await askToPay([{ id }]);
  const frozen = makeClaims(db, { name: 'frozen', claimMs: 1, onRefused });
  expect(await frozen.claim(5)).toMatchObject([{ id: asked?.id }]);
  await expect.poll(() => hasDueUpdates(db)).toBe(true);
  expect(await frozen.claim(5)).toEqual([]);
  frozen.forget(asked?.id ?? 0);
  expect(await frozen.claim(5)).toMatchObject([{ id: asked?.id }]);
});

test('whoever writes several requests at once locks them in their order, so that no two wait for each other', async () => {
  const { freshMany, ask, db, database } = writer();
  const asked = await ask(
    ...(await freshMany(2)).map(({ id }) => ({ commission_id: id, action: 'unpay' as const })),
  );
  const [low = 0, high = 0] = asked.map(({ id }) => id).toSorted((a, b) => a - b);
  const claims = makeClaims(db, { name: 'w', claimMs: 60_000, onRefused });
  await claims.claim(5);
  // Now the lower one comes last in the table, where a plan may begin at its first row.
  await database.pool.query('update commission_updates set note = note where id = $1', [low]);
  const { intend, settle } = makeUpdateRecorder({ db }, 'w');
  const both = <T>(write: (updateId: number) => Promise<T>) => Promise.all([high, low].map(write));
  const writes = {
    extend: () => claims.extend(),
    intend: async () => {
      // The first of a group goes alone; those that come meanwhile go together.
      const alone = intend({ updateId: 0, before: UNPAID, form: '' });
      await Promise.all([alone, both((updateId) => intend({ updateId, before: UNPAID, form: 'paid_at=' }))]);
    },
    settle: async () => {
      const alone = settle({ ...NO_RESULT, updateId: 0 });
      await Promise.all([alone, both((updateId) => settle({ ...NO_RESULT, updateId }))]);
    },
  };
  for (const [name, write] of Object.entries(writes)) {
    const other = await database.pool.connect();
    try {
      await other.query('begin');
      await other.query('select from commission_updates where id = $1 for update', [high]);
      const written = write();
      await expect.poll(() => isLocked(low), { message: `${name} locks the lower one first` }).toBe(true);
      await other.query('rollback');
      await written;
    } finally {
      other.release();
    }
  }

  async function isLocked(id: number): Promise<boolean> {
    const { rows } = await database.pool.query(
      'select from commission_updates where id = $1 for update skip locked',
      [id],
    );
    return rows.length === 0;
  }
});

test('text that Postgres cannot hold does not stop the payment ledger', async () => {
  const { fresh, ask, drain, row, db } = writer();
  const { id } = await fresh();
  const [asked] = await ask({ commission_id: id, action: 'unpay' });
  await makeClaims(db, { name: 'w', claimMs: 60_000, onRefused }).claim(5);
  const settled = await makeUpdateRecorder({ db }, 'w').settle({
    ...NO_RESULT,
    updateId: asked?.id ?? 0,
    commissionId: id,
    end: { state: 'rejected', outcome: 'no\0 \ud800', note: null },
  });
  expect(settled).toBe(true);
  expect((await row(asked?.id)).outcome).toBe('no \ufffd');
  await drain();
});

test('a claim that has ended is not extended and lets no change be announced, though nobody has taken it over', async () => {
  const { db, row, database, drain } = writer();
  const { updateId } = await askAlone();
  const claims = makeClaims(db, { name: 'stopped', claimMs: 1, onRefused });
  expect(await claims.claim(5)).toMatchObject([{ id: updateId }]);
  await expect.poll(() => hasDueUpdates(db)).toBe(true);
  await expect.poll(() => claims.hasTimeLeft(updateId)).toBe(false);
  const heldUntil = async () => {
    const { rows } = await database.pool.query(
      'select claimed_by, claimed_until::text from commission_updates where id = $1',
      [updateId],
    );
    return rows;
  };
  const ended = await heldUntil();
  await claims.extend();
  expect(await heldUntil()).toEqual(ended);
  const recorder = makeUpdateRecorder({ db }, 'stopped');
  expect(await recorder.intend({ updateId, before: UNPAID, form: 'paid_at=x' })).toBeNull();
  expect(await row(updateId)).toMatchObject({ put_sent_at: null, before: null });
  expect(await drain()).toMatchObject({ ended: { applied: 1 } });
});

test('what was there before stays in the payment ledger where the writer was killed after its change was sent', async () => {
  const { db, row, sandbox, drain } = writer();
  const { id, updateId } = await askAlone();
  const killed = makeClaims(db, { name: 'killed', claimMs: 60_000, onRefused });
  await killed.claim(5);
  const paidBefore = '2026-01-02T03:04:05Z';
  const before = { ...UNPAID, paid_at: paidBefore };
  await makeUpdateRecorder({ db }, 'killed').intend({ updateId, before, form: 'paid_at=x' });
  await sandbox.program.updateCommission(id, { paid_at: PAID_AT });
  await killed.release([updateId]);
  await drain();
  expect(await row(updateId)).toMatchObject({ state: 'applied', before: { paid_at: paidBefore } });
});

test('of changes that are announced together, only that whose claim was lost is not to be sent', async () => {
  const { db, drain, database } = writer();
  await drain();
  const asked = await askFor(2);
  const [lost = 0, held = 0] = asked.map(({ id }) => id);
  await makeClaims(db, { name: 'half', claimMs: 60_000, onRefused }).claim(5);
  await database.pool.query("update commission_updates set claimed_by = 'other' where id = $1", [lost]);
  const { intend } = makeUpdateRecorder({ db }, 'half');
  // The first of a group goes alone; those that come meanwhile go together.
  const announced = [0, lost, held].map((updateId) =>
    intend({ updateId, before: UNPAID, form: 'paid_at=x' }),
  );
  expect(await Promise.all(announced)).toEqual([null, null, expect.any(Number)]);
  await database.pool.query('update commission_updates set claimed_until = now() where id = any($1)', [
    [lost, held],
  ]);
  await drain();
});

test('a request that was superseded after its claim had ended stays so, whatever its writer settles when it wakes', async () => {
  const { ask, db, row, drain, program } = writer();
  const { id, updateId } = await askAlone();
  await makeClaims(db, { name: 'asleep', claimMs: 1, onRefused }).claim(5);
  await expect.poll(() => hasDueUpdates(db)).toBe(true);
  await ask({ commission_id: id, action: 'unpay', supersede: true });
  const { settle } = makeUpdateRecorder({ db }, 'asleep');
  expect(await settle({ ...NO_RESULT, updateId, commissionId: id })).toBe(false);
  await drain();
  expect(await row(updateId)).toMatchObject({ state: 'superseded', put_sent_at: null });
  expect(await program(id)).toMatchObject({ paid_at: null });
});

test('a request whose change may be on its way is not superseded, though its claim has ended', async () => {
  const { ask, api, db, row, drain, database } = writer();
  const { id, updateId } = await askAlone();
  const before = valuesOf((await api.getCommission(id)).commission);
  await makeClaims(db, { name: 'sent', claimMs: 60_000, onRefused }).claim(5);
  await makeUpdateRecorder({ db }, 'sent').intend({ updateId, before, form: 'paid_at=x' });
  await database.pool.query('update commission_updates set claimed_until = now() where id = $1', [updateId]);
  await ask({ commission_id: id, action: 'unpay', supersede: true });
  expect(await row(updateId)).toMatchObject({ state: 'pending', put_sent_at: expect.any(String) });
  await drain();
  expect((await row(updateId)).state).toBe('applied');
});
