// What the payment ledger says in its own words stays when texts that may quote the program are left out.

import { expect, test } from 'vitest';
import { judgeAnswer, judgeUpdate } from '../../src/commissions/judge-update.ts';
import { plainRequest } from '../../src/commissions/update-request.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
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
  ]);
});
