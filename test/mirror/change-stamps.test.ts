// The stamps of changes (_changed_at) are in the order of the commits, whoever changes what beside whom: so a reader
// who asks for what is greater than the last stamp that it has seen misses nothing.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { DatabaseTransaction } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { decodePage } from '../../src/decode/decode-page.ts';
import { PLAIN } from '../../src/decode/treatment.ts';
import { type LoadInput, loadBatch } from '../../src/mirror/load-batch.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { markCommissionsDeleted, mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildCommission } from './build-records.ts';
import { byTime, lastStamp, stampOf } from './change-stamps.ts';
import { at, load } from './load.ts';

const database = await createTestDatabase();
const { db } = database;

const commission = buildCommission();
const other = buildCommission();

beforeEach(async () => {
  await sql`truncate campaigns, affiliates, links, referrals, sales, commissions, record_history`.execute(db);
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records: [commission, other] }] });
});

let amount = 1000;

/** A change that commits later was observed later, except where a test says otherwise. */
const observedAt = () => at(++amount);

function loadInto(trx: DatabaseTransaction, records: readonly object[], second = observedAt()) {
  const read = decodePage({ resource: 'commissions', drift: null, treatment: PLAIN, fast: null }, [
    { observedAt: second, records },
  ]);
  const input: LoadInput = { run: null, resource: 'commissions', pages: [read] };
  return loadBatch(trx, input);
}

const changed = (record: object) => ({ ...record, amount: ++amount });

/** Every way in which a row of the mirror is changed. Each changes or adds a commission. */
const WRITERS: Readonly<Record<string, (trx: DatabaseTransaction) => Promise<unknown>>> = {
  'a small load': (trx) => loadInto(trx, [changed(commission)]),
  'a small load of something new': (trx) => loadInto(trx, [buildCommission()]),
  'a large load': (trx) =>
    loadInto(trx, [...Array.from({ length: 30 }, () => buildCommission()), changed(other)]),
  'the answer to a payment': (trx) =>
    mirrorCommissions(trx, [{ commission: changed(commission) as never, observedAt: observedAt() }]),
  'a commission that a payment found gone': (trx) =>
    markCommissionsDeleted(trx, [{ id: commission.id, askedAt: observedAt() }]),
  'a mark of deletion': (trx) =>
    markDeleted(trx, { runId: null, resource: 'commissions', ids: [other.id], observedAt: observedAt() }),
  'a change by hand': (trx) => sql`update commissions set amount = ${++amount}::bigint`.execute(trx),
};

async function watermark(): Promise<string> {
  const { rows } = await sql<{ at: string }>`select max(_changed_at) as at from commissions`.execute(db);
  return rows[0]?.at ?? '';
}

/** Returns what a transaction began with, once it did; it stays open until `end`, which returns what it ended with. */
async function hold<B, E>(
  begin: (trx: DatabaseTransaction) => Promise<B>,
  finish: (trx: DatabaseTransaction) => Promise<E>,
): Promise<{ begun: B; end: () => Promise<E> }> {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<B>();
  const ended = transact(db, async (trx) => {
    begun.resolve(await begin(trx));
    await held.promise;
    return await finish(trx);
  });
  const end = () => {
    held.resolve();
    return ended;
  };
  return { begun: await begun.promise, end };
}

const takeStamp = (trx: DatabaseTransaction) => sql`select stamp_changes()`.execute(trx);

const nothing = async () => {};

const KINDS = Object.keys(WRITERS);

// Whoever has the stamp changes rows next: one who kept a row from it and waited for it would be in a deadlock.
describe('while it waits for its stamp', () => {
  test.each(KINDS.filter((kind) => kind !== 'a change by hand'))('%s keeps no row locked', async (kind) => {
    const one = await hold(takeStamp, async (trx) => {
      const { rows } = await sql<{ id: string }>`select id from commissions for update skip locked`.execute(
        trx,
      );
      return rows.length;
    });
    const two = transact(db, async (trx) => {
      await WRITERS[kind]?.(trx);
      return stampOf(trx);
    });
    await expect.poll(() => countWaiting(database.pool)).toBe(1);
    expect(await one.end()).toBe(2);
    expect(await two).not.toBeNull();
  });
});

test('an answer that changes nothing takes no stamp and waits for nobody who has one', async () => {
  const one = await hold(takeStamp, nothing);
  const two = transact(db, async (trx) => {
    await sql`set local statement_timeout = '10s'`.execute(trx);
    await mirrorCommissions(trx, [{ commission: commission as never, observedAt: observedAt() }]);
    return await stampOf(trx);
  });
  expect(await two.finally(one.end)).toBeNull();
});

test('a clock of the server that is set back changes nothing: stamps go on from the last one', async () => {
  await sql`update change_clock set last = '2999-01-01T00:00:00Z'`.execute(db);
  await transact(db, (trx) => loadInto(trx, [changed(commission)]));
  expect(await watermark()).toBe('2999-01-01T00:00:00.000001Z');
  await transact(db, (trx) => loadInto(trx, [changed(commission)]));
  expect(await watermark()).toBe('2999-01-01T00:00:00.000002Z');
  await sql`update change_clock set last = clock_timestamp()`.execute(db);
});

test('what is undone to a savepoint leaves no stamp behind, and the next change of the transaction takes a new one', async () => {
  const before = await lastStamp(db);
  await transact(db, async (trx) => {
    await sql`savepoint undone`.execute(trx);
    await loadInto(trx, [changed(commission)]);
    await sql`rollback to savepoint undone`.execute(trx);
    expect(await stampOf(trx)).toBeNull();
    await loadInto(trx, [changed(other)]);
    expect(byTime((await stampOf(trx)) ?? '', before)).toBe(1);
  });
});
