// What is left of the totals of an affiliate who is forgotten.

import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { buildAffiliate } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { PLAIN } from './marked-program.ts';

test('in mode plain figures and currencies alone are left, of later syncs and of others all', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  const figures = (cents: number) => ({ USD: { unpaid: { cents, code: 'USD' } } });
  const sync = async (cents: number): Promise<void> => {
    const records = ['maria', 'other'].map((name) =>
      buildAffiliate({
        id: `a0000000-0000-4000-8000-00000000000${name === 'maria' ? 1 : 2}`,
        email: `${name}@people.example`,
        updated_at: at(cents),
        commission_stats: { currencies: figures(cents), note: `the totals of ${name}` },
      }),
    );
    const pages = [{ observedAt: at(cents), records }];
    await load(db, { resource: 'affiliates', pages });
  };
  const stored = async (): Promise<unknown> =>
    (await pool.query('select commission_stats from affiliates order by id')).rows.map(
      ({ commission_stats }) => commission_stats,
    );
  await sync(1);
  await sync(2);
  await forgetPerson(db, PLAIN, { who: 'maria@people.example', by: 'privacy' });
  const left = (cents: number) => [
    { currencies: figures(cents), note: null },
    { currencies: figures(cents), note: 'the totals of other' },
  ];
  expect(await stored()).toEqual(left(2));
  const history = await pool.query(`select from record_history h where h::text like '%totals of maria%'`);
  expect(history.rowCount).toBe(0);
  await sync(3);
  expect(await stored()).toEqual(left(3));
});
