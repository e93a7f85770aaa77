// Where an address of a person who is forgotten is found in fields and records that are not about the person.

import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findText, PLAIN } from './marked-program.ts';
import { makeSyncs } from './syncs.ts';

const EMAIL = 'maria@people.example';

/** As somebody may have written it into a field that the contract does not know. */
const NOTES = [
  `Contact:\n${EMAIL}`,
  `Contact:\t${EMAIL}`,
  `Wrote to ${EMAIL}.`,
  `Wrote to ${EMAIL}!`,
  `https://shop.example/?email=${EMAIL}&plan=1`,
  `mailto:${EMAIL}?subject=hello`,
  `https://shop.example/#${EMAIL}`,
  `**${EMAIL}**`,
  `Contact|${EMAIL}|`,
  // What Rails makes of angle brackets.
  `Written by \\u003c${EMAIL}\\u003e`,
  `Written by \\u003C${EMAIL}\\u003E`,
] as const;

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
});

const noted = (note: string) => ({ id: 'b0000000-0000-4000-8000-00000000000b', customer: null, note });

test.each(NOTES)('an address is forgotten where others are noted with %j', async (note) => {
  await makeSyncs(db).referrals([noted(note)]);
  const text = JSON.stringify({ note });
  await database.pool.query(
    `insert into rejected_records (resource, reason, payload, observed_at) values ('referrals', 'visits', $1, now())`,
    [text],
  );
  expect(await findText(database, 'maria')).toEqual(['referrals', 'rejected_records']);
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  expect(await findText(database, 'maria')).toEqual([]);
});

test.each(NOTES)('an address that was forgotten is not stored later with %j', async (note) => {
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  const records = [buildReferral(noted(note)), { ...buildReferral({ note }), visits: 'many' }];
  const pages = [{ observedAt: at(1), records }];
  await load(db, { resource: 'referrals', pages });
  const { rows } = await database.pool.query('select count(*) as stored from referrals');
  expect(rows).toEqual([{ stored: 1 }]);
  expect(await findText(database, 'maria')).toEqual([]);
});

test('a longer address is another one, and stays', async () => {
  const notes = `x.${EMAIL}, ann+${EMAIL}; ${EMAIL}.au, ${EMAIL}-x`;
  await makeSyncs(db).referrals([noted(notes)]);
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  expect(await findText(database, notes)).toEqual(['referrals']);
});

test('a text of a megabyte without a space is looked through in time', async () => {
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  const { rows } = await database.pool.query(
    `select names_forgotten('@' || repeat('x', 1000000)) as one, names_forgotten(repeat('a', 1000000) || '@') as other`,
  );
  expect(rows).toEqual([{ one: false, other: false }]);
});
