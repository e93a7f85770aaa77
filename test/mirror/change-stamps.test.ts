// The stamps of changes (_changed_at) are in the order of the commits, whoever changes what beside whom: so a reader
// who asks for what is greater than the last stamp that it has seen misses nothing.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { markCommissionsDeleted, mirrorCommissions } from '../../src/commissions/mirror-commissions.ts';
import { type DatabaseTransaction, makeDatabase } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { type LoadInput, loadBatch } from '../../src/mirror/load-batch.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { readPages } from '../../src/records/read-page.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildCommission } from './build-records.ts';
import { byTime, lastStamp, stampOf } from './change-stamps.ts';
import { at, load } from './load.ts';

const database = await createTestDatabase();
const db = makeDatabase(database.pool);

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
  const read = readPages({ cache: null, drift: null }, 'commissions', [{ observedAt: second, records }]);
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
/** Each beside each would prove the same: each is once the first, and once the second beside a small load. */
const PAIRS = KINDS.flatMap((kind) => [
  [kind, 'a small load of something new'] as const,
  ['a small load', kind] as const,
]);

describe('of two transactions', () => {
  test.each(PAIRS)('%s and %s, the one that commits later has the greater stamp', async (first, second) => {
    const one = await hold(async (trx) => {
      await WRITERS[first]?.(trx);
      return stampOf(trx);
    }, nothing);
    const stamps = [one.begun];
    const two = transact(db, async (trx) => {
      await WRITERS[second]?.(trx);
      stamps[1] = await stampOf(trx);
    });
    await expect.poll(() => countWaiting(database.pool)).toBe(1);
    // Whoever reads meanwhile sees neither, and keeps a watermark below both.
    const before = await watermark();
    await Promise.all([one.end(), two]);
    const inOrder = [before, ...stamps.map((stamp) => stamp ?? '')];
    expect(inOrder.toSorted(byTime)).toEqual(inOrder);
    expect(new Set(inOrder).size).toBe(3);
    const { rows } = await sql<{ at: string }>`select distinct _changed_at as at from commissions`.execute(
      db,
    );
    expect(rows.map(({ at }) => at)).toContain(stamps[1]);
  });
});

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

test('deadlocks are no way out: ten writers of every kind at once all commit, each with a stamp of its own', async () => {
  const writers = KINDS.filter((kind) => kind !== 'a change by hand').flatMap((kind) => [kind, kind]);
  const before = await sql<{ count: number }>`
    select deadlocks as count from pg_stat_database where datname = current_database()`.execute(db);
  const stamps = await Promise.all(
    writers.map((kind) =>
      transact(db, async (trx) => {
        await WRITERS[kind]?.(trx);
        return stampOf(trx);
      }),
    ),
  );
  // What was observed before what is there, or is deleted already, changes nothing and takes no stamp.
  const given = stamps.filter((stamp) => stamp !== null);
  expect(new Set(given).size).toBe(given.length);
  expect(given.length).toBeGreaterThan(3);
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const after = await sql<{ count: number }>`
    select deadlocks as count from pg_stat_database where datname = current_database()`.execute(db);
  expect(after.rows).toEqual(before.rows);
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
