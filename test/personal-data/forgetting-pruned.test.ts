// By what a person is found whose history has gaps, since it was pruned: a change that stays says what was before it
// and what after it.

import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { FOR_EVER, pruneNow } from '../retention/aged-mirror.ts';
import { createTestDatabase } from '../support/database.ts';
import { findText, PLAIN } from './marked-program.ts';
import { makeSyncs } from './syncs.ts';

const OLDEST = 'm.first@people.example';
const BETWEEN = 'm.second@people.example';
const CURRENT = 'maria@people.example';

test.each([OLDEST, BETWEEN, CURRENT])(
  'a customer is forgotten by %s, with the names of each time',
  async (who) => {
    const database = await createTestDatabase();
    const { pool } = database;
    const change = (days: number, before: object, after: object) =>
      pool.query(
        `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
       select 'referrals', 'r1', 'updated', $2, $3, at, at from (select now() - make_interval(days => $1) as at) aged`,
        [days, before, after],
      );
    const state = (word: string, customer_email: string) => ({
      customer_name: `Maria ${word}`,
      customer_email,
    });
    const between = state('Between', BETWEEN);
    // The reports count the conversion for ever; what came after it is pruned.
    await change(
      9,
      { conversion_state: 'lead', ...state('Oldest', OLDEST) },
      { conversion_state: 'conversion', ...between },
    );
    await change(8, between, state('Current', CURRENT));
    await change(7, { visits: 1 }, { visits: 2 });
    await pool.query(`
    insert into referrals (id, created_at, conversion_state, customer_name, customer_email, _first_seen_at,
      _changed_at, _observed_at)
      values ('r1', now(), 'conversion', 'Maria Current', '${CURRENT}', now(), now(), now());
    insert into commission_updates (commission_id, action, reason)
      values (gen_random_uuid()::text, 'unpay', 'Maria Oldest, Maria Between; Maria Current')`);
    await pruneNow({ pool, db: makeDatabase(pool) }, { ...FOR_EVER, history: 1 });
    expect((await pool.query('select from record_history where before is not null')).rowCount).toBe(2);
    const forgotten = await forgetPerson(makeDatabase(pool), PLAIN, { who, by: 'privacy' });
    expect(forgotten).toMatchObject({ records: { referrals: 1 } });
    expect(await findText(database, 'maria')).toEqual([]);
    expect(await findText(database, 'people.example')).toEqual([]);
    const { rows } = await pool.query('select reason from commission_updates');
    expect(rows).toEqual([{ reason: '[forgotten], [forgotten]; [forgotten]' }]);
  },
);

test.each([['the identifier'], ['the former address']])(
  'a person whom the API anonymised stays in the last change of the history at any age, until forgotten by %s',
  async (by) => {
    const database = await createTestDatabase();
    const { pool } = database;
    const db = makeDatabase(pool);
    const syncs = makeSyncs(db);
    const id = 'a0000000-0000-4000-8000-00000000000a';
    await syncs.affiliate({ id, first_name: 'Maria', last_name: 'Oldest', email: OLDEST });
    await syncs.affiliate({ id, first_name: 'Maria', last_name: 'Current', email: CURRENT });
    await syncs.affiliate({ id, first_name: null, last_name: null, email: `${id}@gone.example` });
    await pool.query(`update record_history set recorded_at = recorded_at - interval '9 days'`);
    await pruneNow({ pool, db }, { ...FOR_EVER, history: 1 });
    const kept = `select before ->> 'last_name' as name from record_history where before is not null`;
    expect((await pool.query(kept)).rows).toEqual([{ name: 'Current' }]);
    expect(await findText(database, 'maria')).toEqual(['record_history']);
    await forgetPerson(db, PLAIN, { who: by === 'the identifier' ? id : CURRENT, by: 'privacy' });
    expect(await findText(database, 'maria')).toEqual([]);
  },
);
