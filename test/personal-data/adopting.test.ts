// A mirror without any record takes over the mode of the settings; any other stays as it is.

import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { adoptMode } from '../../src/personal-data/adopt-mode.ts';
import { readState } from '../../src/personal-data/stored-state.ts';
import { createTestDatabase } from '../support/database.ts';
import { HASH, OMIT, PLAIN } from './marked-program.ts';

test('a mirror without any record adopts each mode that it is started in', async () => {
  const db = makeDatabase((await createTestDatabase()).pool);
  for (const settings of [HASH, OMIT, PLAIN]) {
    await adoptMode(db, settings);
    expect(await readState(db)).toMatchObject({ mode: settings.mode });
  }
});

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
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  await pool.query(statement);
  await adoptMode(db, OMIT);
  expect(await readState(db)).toMatchObject({ mode: 'plain' });
});
