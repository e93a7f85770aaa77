// How a mirror keeps personal data is one row, which says so whole or not at all: who sets it, and what a switch says.

import { createHmac, createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../../src/config/program/personal-data.ts';
import { readState } from '../../../src/mirror/people/stored-state.ts';
import { adoptMode, switchMode } from '../../../src/mirror/people/switch-mode.ts';
import { useMirror } from '../mirror.ts';
import { HASH, OMIT, PLAIN } from './marked-program.ts';

const OTHER_KEY: PersonalDataSettings = {
  mode: 'hash',
  key: createSecretKey(Buffer.alloc(32, 'another key ')),
};

const mirror = useMirror();

test.each([
  ['a second row', 'insert into personal_data (only_row) values (false)'],
  ['no mode that is known', `update personal_data set mode = 'other'`],
  ['mode hash without a key', `update personal_data set mode = 'hash'`],
  ['a key in another mode', `update personal_data set key_fingerprint = 'some'`],
])('the database refuses %s', async (_, statement) => {
  await expect(mirror().rows(statement)).rejects.toMatchObject({ code: '23514' });
});

test.each([
  [
    'a record',
    `insert into campaigns (id, created_at, name, _first_seen_at, _changed_at, _observed_at)
       values ('some', now(), 'Friends', now(), now(), now());
     truncate record_history`,
  ],
  [
    'a record that was rejected',
    `insert into rejected_records (resource, reason, payload, observed_at) values ('affiliates', 'email', '{}', now())`,
  ],
  [
    'the history of a record',
    `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
     values ('affiliates', 'some', 'updated', '{"email": "a"}', '{"email": "b"}', now(), now())`,
  ],
])('a mirror that holds %s is not new, and stays as it is', async (_, statement) => {
  const { db, pool } = mirror();
  await pool.query(statement);
  await adoptMode(db, OMIT);
  expect(await readState(db)).toMatchObject({ mode: 'plain' });
});

test('a switch notes when it was, one that changes nothing does not', async () => {
  const { db, rows } = mirror();
  const changedAt = async () => (await rows('select changed_at from personal_data'))[0]?.['changed_at'];
  const first = await changedAt();
  await switchMode(db, OMIT);
  const second = await changedAt();
  expect(Date.parse(String(second))).toBeGreaterThan(Date.parse(String(first)));
  await switchMode(db, OMIT);
  expect(await changedAt()).toEqual(second);
});

test.each([
  ['from plain to hash', PLAIN, HASH, true],
  ['from hash to plain', HASH, PLAIN, true],
  ['to another key', HASH, OTHER_KEY, true],
  ['from plain to omit', PLAIN, OMIT, false],
])(
  'a switch %s says whether forgotten addresses are known no longer',
  async (_, from, to, losesAddresses) => {
    const { db, switchTo, forget } = mirror();
    await switchTo(from);
    expect(await switchMode(db, from)).toMatchObject({ isChanged: false, losesAddresses: false });
    await forget('maria@people.example');
    expect(await switchMode(db, from)).toMatchObject({ isChanged: false, losesAddresses: false });
    expect(await switchMode(db, to)).toMatchObject({ isChanged: true, losesAddresses });
  },
);

test('in mode hash what is empty stays empty, a hash that the program sends is hashed; back in plain none is left', async () => {
  const { switchTo, sync, rows } = mirror();
  await switchTo(HASH);
  const sent = `hmac:${'0'.repeat(64)}`;
  await sync('affiliates', { first_name: sent, last_name: ' ', payout_email: '' });
  await sync('referrals', { coupon: { token: 'MARIA10' } });
  const hash = createHmac('sha256', Buffer.alloc(32, 'a key ')).update(sent).digest('hex');
  expect(await rows('select first_name, last_name, payout_email from affiliates')).toEqual([
    { first_name: `hmac:${hash}`, last_name: '', payout_email: '' },
  ]);
  const token = () => rows(`select coupon ->> 'token' as token from referrals`);
  expect(await token()).toEqual([{ token: expect.stringMatching(/^hmac:/) }]);
  await switchTo(PLAIN);
  expect(await token()).toEqual([{ token: null }]);
});

// Otherwise an API could keep its record from being emptied.
test('a rejected record of the program that looks as if it were left out is left out by a switch all the same', async () => {
  const { pool, switchTo, rows } = mirror();
  await pool.query(`insert into rejected_records (resource, reason, payload, observed_at)
    values ('referrals', 'visits', '{"id": null, "left_out": "no", "note": "maria@people.example"}', now())`);
  await switchTo(OMIT);
  expect(await rows('select payload from rejected_records')).toEqual([
    { payload: { id: null, left_out: 'rejection 1' } },
  ]);
});
