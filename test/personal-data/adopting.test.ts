// A mirror without any record that takes over the mode of the settings: what it has of errors quotes nothing then.

import { expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { adoptMode } from '../../src/personal-data/adopt-mode.ts';
import { readState } from '../../src/personal-data/stored-state.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { REWRITTEN_TABLES } from '../../src/personal-data/vacuum.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findText, HASH, MARK, OMIT, PLAIN } from './marked-program.ts';

const QUOTING = [
  'commission_update_attempts',
  'commission_updates',
  'optional_lists',
  'sync_runs',
  'tracked_commissions',
];

/** What a mirror holds whose program has refused everything so far. */
async function fillWithErrors({ pool }: TestDatabase): Promise<void> {
  await pool.query(`
    insert into mirror.sync_runs (resource, mode, state, error, finished_at)
    values ('affiliates', 'full', 'failed', 'GET /v1/affiliates answered 500: ${MARK}', now());
    insert into mirror.commission_updates (commission_id, action, paid_at)
    values ('00000000-0000-4000-8000-000000000001', 'pay', now());
    update mirror.commission_updates
    set state = 'rejected', outcome = 'answered 422: ${MARK}', finished_at = now();
    insert into mirror.commission_update_attempts (update_id, method, sent_at, error)
    select id, 'GET', now(), 'answered 422: ${MARK}' from mirror.commission_updates;
    insert into mirror.tracked_commissions (commission_id, last_error) values ('some', 'answered 500: ${MARK}');
    update mirror.optional_lists set problem = 'answered 500: ${MARK}'`);
}

test.each([HASH, OMIT])(
  'a mirror that holds nothing but errors adopts mode $mode, and quotes nothing',
  async (settings) => {
    const database = await createTestDatabase();
    const db = makeDatabase(database.pool);
    await fillWithErrors(database);
    expect(await findText(database, MARK)).toEqual(QUOTING);
    await adoptMode(db, settings);
    expect(await readState(db)).toMatchObject({ mode: settings.mode });
    expect(await findText(database, MARK)).toEqual([]);
  },
);

test.each([
  [
    'a record',
    `insert into campaigns (id, created_at, name, _first_seen_at, _changed_at, _observed_at)
       values ('some', now(), 'Friends', now(), now(), now());
     truncate record_history`,
  ],
  [
    'a record that was refused',
    `insert into rejected_records (resource, reason, payload, observed_at) values ('affiliates', 'email', '{}', now())`,
  ],
  [
    'the history of a record',
    `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
     values ('affiliates', 'some', 'updated', '{"email": "a"}', '{"email": "b"}', now(), now())`,
  ],
])('a mirror that holds %s is not new, and stays as it is', async (_, statement) => {
  const database = await createTestDatabase();
  const db = makeDatabase(database.pool);
  await fillWithErrors(database);
  await database.pool.query(statement);
  await adoptMode(db, OMIT);
  expect(await readState(db)).toMatchObject({ mode: 'plain' });
  expect(await findText(database, MARK)).toEqual(QUOTING);
});

test('a mirror that goes back to plain before it has any record keeps its errors', async () => {
  const database = await createTestDatabase();
  const db = makeDatabase(database.pool);
  await adoptMode(db, OMIT);
  await fillWithErrors(database);
  await adoptMode(db, PLAIN);
  expect(await readState(db)).toMatchObject({ mode: 'plain' });
  expect(await findText(database, MARK)).toEqual(QUOTING);
});

test.each([HASH, OMIT])(
  'a switch to mode $mode that is run again leaves out what was stored since',
  async (settings: PersonalDataSettings) => {
    const database = await createTestDatabase();
    const db = makeDatabase(database.pool);
    await switchMode(db, settings);
    await fillWithErrors(database);
    const { isChanged, counts } = await switchMode(db, settings);
    expect(isChanged).toBe(false);
    expect([...counts.keys()].sort()).toEqual(QUOTING);
    expect(REWRITTEN_TABLES).toEqual(expect.arrayContaining(QUOTING));
    expect(await findText(database, MARK)).toEqual([]);
    expect((await switchMode(db, settings)).counts).toEqual(new Map());
  },
);
