// A mirror that is switched, or a person who is forgotten, while a process of the former mode, or of before, works on:
// what it still stores of what the API answers.

import { expect, test } from 'vitest';
import { PersonalDataMismatch } from '../../../src/base/errors.ts';
import { forgetPerson } from '../../../src/mirror/people/forget-person.ts';
import { makeTreatment } from '../../../src/mirror/people/make-treatment.ts';
import { switchMode } from '../../../src/mirror/people/switch-mode.ts';
import { trackCommissions } from '../../../src/payments/poll/track-commissions.ts';
import { pollTracked } from '../../../src/payments/poll/tracked-commissions.ts';
import { applyUpdates } from '../../../src/payments/write/apply-updates.ts';
import { runSync } from '../../../src/sync/run-sync.ts';
import { makeAlteredApi, PAID_AT, silent, useWriter } from '../../payments/write/start-writer.ts';
import { findText, HASH, PLAIN } from './marked-program.ts';

const writer = useWriter();
const signal = AbortSignal.timeout(100_000);
const treatment = makeTreatment(PLAIN);

/** Whatever stores what the API answers, each for one thing, as a process in mode plain. */
const WORK = {
  async 'a payment'() {
    const { api, db, ask, fresh } = writer();
    await ask({ commission_id: (await fresh()).id, action: 'pay', paid_at: PAID_AT });
    await applyUpdates({ api, db, log: silent, treatment }, { concurrency: 4, signal });
  },
  async 'a poll'() {
    const { api, db, database, fresh } = writer();
    await trackCommissions(db, [(await fresh()).id], 'finance');
    await database.pool.query('update mirror.tracked_commissions set next_poll_at = now()');
    await pollTracked({ client: api, db, log: silent, treatment }, { signal });
  },
  async 'a sync'() {
    const { api, db } = writer();
    const input = { resource: 'affiliates', mode: 'full', acceptDeletes: false } as const;
    await runSync({ api, db, log: silent, treatment }, input);
  },
};

test.each(Object.entries(WORK))(
  'after a switch, %s of the former mode stores nothing of people',
  async (_what, work) => {
    const { db, database } = writer();
    await switchMode(db, HASH);
    try {
      await expect(work()).rejects.toThrow(PersonalDataMismatch);
      const { rows } = await database.pool.query(
        `select count(email) + (select count(customer_email) from mirror.referrals) as plain from mirror.affiliates`,
      );
      expect(rows).toEqual([{ plain: 0 }]);
    } finally {
      await switchMode(db, PLAIN);
    }
  },
);

test('a payment whose answer came after a switch stays pending; the next writer finds out, and sends it no second time', async () => {
  const { db, ask, fresh, row, received } = writer();
  await writer().drain();
  const before = received('PUT').length;
  const [asked] = await ask({ commission_id: (await fresh()).id, action: 'pay', paid_at: PAID_AT });
  await switchMode(db, HASH);
  const drain = applyUpdates({ api: writer().api, db, log: silent, treatment }, { concurrency: 4, signal });
  await expect(drain).rejects.toThrow('this mirror keeps personal data as hash, and PII is plain here');
  expect(await row(asked?.id)).toMatchObject({ state: 'pending', attempts: 0 });
  const sent = received('PUT').length;
  expect(sent).toBe(before + 1);
  const heir = { api: writer().api, db, log: silent, treatment: makeTreatment(HASH) };
  await applyUpdates(heir, { concurrency: 4, signal });
  expect(await row(asked?.id)).toMatchObject({ state: 'applied' });
  expect(received('PUT')).toHaveLength(sent);
  await switchMode(db, PLAIN);
});

test('what the API refuses a payment with is kept for finance, unless it names somebody who was forgotten meanwhile', async () => {
  const { database, db, sandbox, ask, freshMany, row } = writer();
  const address = 'someone@forgotten.example';
  const commissions = await freshMany(2);
  const asked = await ask(
    ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay', paid_at: PAID_AT }) as const),
  );
  let isForgotten = false;
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    const isFirst = path.includes(commissions[0]?.id ?? '');
    if (!isFirst && !path.includes(commissions[1]?.id ?? '')) return body;
    if (!isFirst && !isForgotten) {
      isForgotten = true;
      await forgetPerson(db, PLAIN, { who: address, by: 'test' });
    }
    const details = isFirst ? ['Paid at is in a closed period'] : [`${address} may not be paid`];
    return { status: 422, body: JSON.stringify({ error: 'Could not update commission', details }) };
  });
  await applyUpdates({ api, db, log: silent, treatment }, { concurrency: 4, signal });
  expect(await row(asked[0]?.id)).toMatchObject({
    state: 'rejected',
    outcome: expect.stringContaining('(422): Could not update commission: Paid at is in a closed period'),
  });
  expect(await row(asked[1]?.id)).toMatchObject({
    state: 'rejected',
    outcome: 'the API refused it, with a reason that names a forgotten person',
  });
  expect(await findText(database, address)).toEqual([]);
});
