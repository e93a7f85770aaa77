// How personal data are kept is one row, which says so whole or not at all; and what differs in each mode of a value.

import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { makeTreatment } from '../../src/personal-data/make-treatment.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { buildAffiliate, buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { HASH, OMIT, PLAIN } from './marked-program.ts';

test.each([
  ['a second row', 'insert into personal_data (only_row) values (false)'],
  ['no mode that is known', `update personal_data set mode = 'other'`],
  ['mode hash without a key', `update personal_data set mode = 'hash'`],
  ['a key in another mode', `update personal_data set key_fingerprint = 'some'`],
])('the database refuses %s', async (_, statement) => {
  const { pool } = await createTestDatabase();
  await expect(pool.query(statement)).rejects.toMatchObject({ code: '23514' });
});

test('a switch notes when it was, one that changes nothing does not', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  const changedAt = async () => (await pool.query('select changed_at from personal_data')).rows[0].changed_at;
  const first = await changedAt();
  await switchMode(db, OMIT);
  const second = await changedAt();
  expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
  await switchMode(db, OMIT);
  expect(await changedAt()).toEqual(second);
});

test('in mode hash an empty value stays empty, and what the program sends as a hash is hashed as well', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  await switchMode(db, HASH);
  const sent = `hmac:${'0'.repeat(64)}`;
  const records = [buildAffiliate({ first_name: sent, last_name: ' ', payout_email: '' })];
  const treatment = makeTreatment(HASH);
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records }], treatment });
  const { rows } = await pool.query('select first_name, last_name, payout_email from affiliates');
  const hash = createHmac('sha256', Buffer.alloc(32, 'a key ')).update(sent).digest('hex');
  expect(rows).toEqual([{ first_name: `hmac:${hash}`, last_name: '', payout_email: '' }]);
});

test('back in mode plain no hash is left in a coupon', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  await switchMode(db, HASH);
  const records = [buildReferral({ coupon: { token: 'MARIA10' } })];
  const treatment = makeTreatment(HASH);
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records }], treatment });
  const token = async () => (await pool.query(`select coupon ->> 'token' as token from referrals`)).rows;
  expect(await token()).toEqual([{ token: expect.stringMatching(/^hmac:/) }]);
  await switchMode(db, PLAIN);
  expect(await token()).toEqual([{ token: null }]);
});
