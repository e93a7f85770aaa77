// What the payment ledger says in its own words stays when texts that may quote the program are left out.

import { expect, test } from 'vitest';
import { judgeAnswer, judgeUpdate } from '../../src/commissions/judge-update.ts';
import { plainRequest } from '../../src/commissions/update-request.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { NOT_TAKEN_OVER } from '../../src/personal-data/own-words.ts';
import { leaveOutTexts } from '../../src/personal-data/rewrite-texts.ts';
import { AT, ID, live } from '../commissions/live-commission.ts';
import { createTestDatabase } from '../support/database.ts';

test('a voided commission, and a change that the program accepted and did not make, keep their outcome', async () => {
  const { pool } = await createTestDatabase();
  const request = plainRequest({ commission_id: ID, action: 'pay', paid_at: AT });
  const endings = [
    judgeUpdate(request, live({ state: 'voided', voided_at: AT }), null),
    judgeAnswer(request, null, live()),
    { kind: 'end', state: 'rejected', outcome: '422 of PUT: Jane is not here' },
    { kind: 'end', state: 'failed', outcome: '404 of PUT: Jane is not here' },
  ];
  for (const ending of endings) {
    if (ending.kind !== 'end') throw new Error('it is no end');
    await pool.query(
      `insert into commission_updates (commission_id, action, paid_at) values ($1, 'pay', $2)`,
      [ID, AT],
    );
    await pool.query(
      `update commission_updates set state = $1, outcome = $2, finished_at = now() where state = 'pending'`,
      [ending.state, ending.outcome],
    );
  }
  await transact(makeDatabase(pool), (trx) => leaveOutTexts(trx, '(left out)', new Map()));
  const { rows } = await pool.query('select outcome from commission_updates order by id');
  expect(rows).toEqual([
    { outcome: expect.stringContaining('is voided since') },
    { outcome: expect.stringContaining('accepted the change, but answered that the commission is unpaid') },
    { outcome: '(left out)' },
    { outcome: '(left out)' },
  ]);
});

test('a note stays, unless it quotes what the mirror could not take over', async () => {
  const { pool } = await createTestDatabase();
  const quoting = `${NOT_TAKEN_OVER} what the program answered: "Jane"`;
  for (const note of ['the change was there already', quoting, `the change was there already; ${quoting}`]) {
    await pool.query(`insert into commission_updates (commission_id, action) values ($1, 'unpay')`, [ID]);
    await pool.query(
      `update commission_updates set state = 'unchanged', outcome = 'Jane', note = $1, finished_at = now()
       where state = 'pending'`,
      [note],
    );
  }
  await transact(makeDatabase(pool), (trx) => leaveOutTexts(trx, '(left out)', new Map()));
  const { rows } = await pool.query('select note, outcome from commission_updates order by id');
  // The outcome is our own as well, where nothing was refused.
  expect(rows).toEqual([
    { note: 'the change was there already', outcome: 'Jane' },
    { note: '(left out)', outcome: 'Jane' },
    { note: '(left out)', outcome: 'Jane' },
  ]);
});
