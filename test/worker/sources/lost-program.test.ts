// Payments of a worker while something in front of the program answers for it.

import { expect, test } from 'vitest';
import type { ApiClient } from '../../../src/api/client.ts';
import { makeCommissionsSource } from '../../../src/worker/sources/commissions-job.ts';
import { makeAlteredApi, PAID_AT, silent, useWriter } from '../../payments/write/start-writer.ts';
import { FRONT_ANSWERS } from '../../support/front-answers.ts';

const writer = useWriter({ affiliates: 5, referrals: 100 });

/** Returns what becomes of the job that is due for a payment, and of the payment. */
async function work(api: ApiClient) {
  const { db, fresh, ask, row } = writer();
  const { id } = await fresh();
  const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
  const duty = makeCommissionsSource({ api, db, log: silent }, { concurrency: 2 });
  const [due] = await duty.findDue({ db, nowMs: Date.now(), madeMs: 0 });
  const signal = AbortSignal.timeout(100_000);
  const outcome = await due?.run({ signal, waitedMs: 0 });
  return { outcome, row: await row(asked?.id) };
}

test.each(FRONT_ANSWERS)('where it %s, they wait a minute, and no longer each time', async (_what, away) => {
  const { db, sandbox, drain } = writer();
  const { outcome, row } = await work(await makeAlteredApi({ db, sandbox }, () => away));
  expect(outcome).toEqual({ kind: 'later', waitMs: 60_000 });
  expect(row).toMatchObject({ state: 'pending', attempts: 0, claimed_by: null });
  expect(await drain()).toEqual({ ended: { applied: 1 }, deferred: 0 });
});

test('where the program itself refuses everything, the job fails', async () => {
  const { db, sandbox } = writer();
  const refusal = { status: 403, body: '{"error":"Forbidden"}' };
  await expect(work(await makeAlteredApi({ db, sandbox }, () => refusal))).rejects.toMatchObject({
    code: 'API_REJECTED',
    retry: 'never',
  });
});
