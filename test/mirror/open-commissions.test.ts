// Which commissions can still move, of records as they come and of the rows that they become.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { countOpen, findMet, findUnmetOpen } from '../../src/mirror/find-missing.ts';
import { makeSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildCommission } from './build-records.ts';
import { at, bury, load, rowsOf } from './load.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

const PAST = '2020-01-01T00:00:00Z';

/** What the program sends of a commission, and whether it can still move. */
const CASES = [
  { sends: { state: 'pending' }, isOpen: true },
  { sends: { state: 'due' }, isOpen: true },
  { sends: { state: 'paid', paid_at: at(0) }, isOpen: false },
  { sends: { state: 'voided' }, isOpen: false },
  // Where the program says a state, its times do not matter.
  { sends: { state: 'due', paid_at: at(0) }, isOpen: true },
  { sends: { state: 'voided', paid_at: null, voided_at: null }, isOpen: false },
  { sends: {}, isOpen: true },
  { sends: { state: null, paid_at: null }, isOpen: true },
  { sends: { paid_at: at(0) }, isOpen: false },
  { sends: { state: null, paid_at: at(0) }, isOpen: false },
  { sends: { voided_at: at(0) }, isOpen: false },
];

test.each(CASES)(
  'it is $isOpen of a record with $sends that it can still move, and of its row',
  async (given) => {
    const record = buildCommission(given.sends);
    await load(db, { resource: 'commissions', pages: [{ observedAt: PAST, records: [record] }] });
    expect(await countOpen(db, 'commissions')).toBe(given.isOpen ? 1 : 0);
    const run = await startRun(db, { resource: 'commissions', mode: 'delta' });
    const unmet = await findUnmetOpen(db, { runId: run.id, resource: 'commissions', seen: makeSeenRows() });
    expect(unmet).toEqual(given.isOpen ? [record.id] : []);
  },
);

test('one that is marked deleted can no longer move', async () => {
  const [kept, gone] = [buildCommission(), buildCommission()];
  await load(db, { resource: 'commissions', pages: [{ observedAt: PAST, records: [kept, gone] }] });
  await bury(db, 'commissions', [gone.id], at(0));
  expect(await countOpen(db, 'commissions')).toBe(1);
  const run = await startRun(db, { resource: 'commissions', mode: 'delta' });
  expect(await findUnmetOpen(db, { runId: run.id, resource: 'commissions', seen: makeSeenRows() })).toEqual([
    kept.id,
  ]);
});

test('one that a run has met is found where it lives, whatever its number, and none where it has met none', async () => {
  const none = makeSeenRows();
  const beyond = none.bits().length * 8;
  await sql`alter table commissions alter column _row_number restart with ${sql.lit(beyond - 1)}`.execute(db);
  for (const record of [buildCommission(), buildCommission(), buildCommission()])
    await load(db, { resource: 'commissions', pages: [{ observedAt: PAST, records: [record] }] });
  const rows = await rowsOf(db, 'commissions');
  expect(rows.map((row) => row['_row_number']).toSorted()).toEqual([beyond - 1, beyond, beyond + 1]);
  expect(await findMet(db, 'commissions', none)).toBeNull();
  for (const row of rows) {
    const one = makeSeenRows();
    one.add({ rowNumbers: [Number(row['_row_number'])], rejectedIds: [], unnamedLinks: [] });
    expect(await findMet(db, 'commissions', one)).toBe(row['id']);
    await bury(db, 'commissions', [String(row['id'])], at(0));
    expect(await findMet(db, 'commissions', one)).toBeNull();
  }
});
