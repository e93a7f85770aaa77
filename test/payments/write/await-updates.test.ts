// Waiting that fails, and what becomes of the change that was under way meanwhile.

import { expect, test } from 'vitest';
import { awaitUpdates } from '../../../src/payments/write/await-updates.ts';
import { makeAlteredApi, silent, useWriter } from './start-writer.ts';

const writer = useWriter();

test('waiting that fails rejects only once the change that was sent is answered, and sends no other', async () => {
  const { freshMany, askToPay, row, attempts, received, sandbox, db } = writer();
  const commissions = await freshMany(2);
  // The first goes alone, until the program has answered it.
  const [sent, other] = await askToPay(commissions);
  const hasFailed = Promise.withResolvers<void>();
  let isSent = false;
  let asked = 0;
  const api = await makeAlteredApi({ db, sandbox }, async (body) => {
    asked += 1;
    if (asked === 2) {
      isSent = true;
      await hasFailed.promise;
    }
    return body;
  });

  const waiting = awaitUpdates({ api, db, log: silent }, [sent?.id ?? 0, other?.id ?? 0], {
    concurrency: 2,
    signal: AbortSignal.timeout(100_000),
    onProgress: () => {
      if (!isSent) return;
      setTimeout(hasFailed.resolve, 300);
      throw new Error('nobody sees how far it is');
    },
  });
  await expect(waiting).rejects.toThrow('nobody sees how far it is');

  expect(await row(sent?.id)).toMatchObject({ state: 'applied', attempts: 0, claimed_by: null });
  expect(await attempts(sent?.id)).toMatchObject([
    { method: 'GET' },
    { method: 'PUT', status: 200, error: null },
  ]);
  expect(await row(other?.id)).toMatchObject({ state: 'pending', attempts: 0, claimed_by: null });
  expect(received('PUT')).toHaveLength(1);
});
