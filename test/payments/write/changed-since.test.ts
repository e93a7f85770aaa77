// Somebody else changes a commission while a request of ours is under way: what they did is not written over where it
// can be known, and the answer says what is there.

import { expect, test } from 'vitest';
import type { ApiClient } from '../../../src/api/client.ts';
import { sleep } from '../../../src/base/sleep.ts';
import { applyUpdates } from '../../../src/payments/write/apply-updates.ts';
import { makeAlteredApi, PAID_AT, type ProgramRow, silent, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 5, referrals: 300 });

const ELSEWHERE = '2026-09-15T08:00:00Z';
const LOST = { status: 502, body: '<html>Bad Gateway</html>' };

/** Changes the commission as another tool does: at the program, beside everything of ours. */
const change = (id: string, paid_at: string | null) => writer().api.putCommission(id, { paid_at });

const drainThrough = (api: ApiClient, timing = {}) =>
  applyUpdates(
    { api, db: writer().db, log: silent },
    {
      concurrency: 1,
      signal: AbortSignal.timeout(20_000),
      timing: { claimMs: 5000, firstBackoffMs: 1, ...timing },
    },
  );

/** Returns an api whose first change of the commission arrives, and whose answer is lost; `then` is called after it. */
async function losingFirst(id: string, then: () => Promise<unknown>): Promise<ApiClient> {
  const { db, sandbox, received } = writer();
  const before = received('PUT').length;
  let isLost = false;
  return makeAlteredApi({ db, sandbox }, async (body, path) => {
    if (isLost || !path.endsWith(id) || received('PUT').length === before) return body;
    isLost = true;
    await then();
    return LOST;
  });
}

const requests = {
  pay: (id: string) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT }),
  expecting: (id: string) => ({ ...requests.pay(id), expected_unpaid: true }),
  unpay: (id: string) => ({ commission_id: id, action: 'unpay' as const }),
};

test.each([
  ['a payment that arrived was moved', requests.pay, null, ELSEWHERE],
  ['a payment that arrived was taken back', requests.pay, null, null],
  ['a payment of what is to be unpaid was taken back', requests.expecting, null, null],
  ['what was marked unpaid was paid anew', requests.unpay, '2026-01-01T00:00:00Z', ELSEWHERE],
])(
  '%s before its lost answer was read: it stays so, and the request says it',
  async (_, request, before, after) => {
    const { fresh, ask, row, program, received } = writer();
    const { id } = await fresh();
    if (before !== null) await change(id, before);
    const [asked] = await ask(request(id));
    const sentBefore = received('PUT').length;
    const api = await losingFirst(id, () => change(id, after));

    expect((await drainThrough(api)).ended).toEqual({ conflict: 1 });
    expect(timeOf(await program(id))).toBe(after);
    // Ours, and theirs.
    expect(received('PUT').length - sentBefore).toBe(2);
    expect(await row(asked?.id)).toMatchObject({
      state: 'conflict',
      outcome: expect.stringMatching(after === null ? /it is unpaid/ : /it is paid at 2026-09-15T08:00:00Z/),
      note: expect.stringContaining('an earlier try sent the change, and its answer was lost'),
      before: { paid_at: before === null ? null : expect.stringContaining('2026-01-01') },
      after: { paid_at: after === null ? null : expect.stringContaining('2026-09-15') },
    });
  },
);

test('where announcing a change takes longer than a reading is good for, it is read again before it is sent', async () => {
  const { fresh, ask, row, program, database, db, sandbox, attempts } = writer();
  const { id } = await fresh();
  const [asked] = await ask(requests.expecting(id));
  const blocker = await database.pool.connect();
  let isRead = false;
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    if (!isRead && path.endsWith(id)) {
      isRead = true;
      await blocker.query('begin');
      await blocker.query('lock table mirror.commission_update_attempts in exclusive mode');
      setTimeout(() => void change(id, ELSEWHERE).then(() => blocker.query('commit')), 2500);
    }
    return body;
  });

  expect((await drainThrough(api, { freshMs: 2000 })).ended).toEqual({ conflict: 1 });
  blocker.release();
  expect(timeOf(await program(id))).toBe(ELSEWHERE);
  expect(await row(asked?.id)).toMatchObject({
    state: 'conflict',
    outcome: expect.stringContaining('unpaid'),
  });
  expect(await attempts(asked?.id)).toMatchObject([
    { method: 'GET' },
    { method: 'PUT', status: null, error: expect.stringMatching(/^not sent: /) },
    { method: 'GET' },
  ]);
  const { rows } = await database.pool.query('select puts from mirror.commission_ledger where request = $1', [
    asked?.id,
  ]);
  expect(rows).toEqual([{ puts: 0 }]);
});

test('a program whose every answer takes longer than a reading is good for gets the change all the same', async () => {
  const { fresh, ask, db, sandbox } = writer();
  const { id } = await fresh();
  await ask(requests.expecting(id));
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    if (path.endsWith(id)) await sleep(100);
    return body;
  });
  expect((await drainThrough(api, { freshMs: 5 })).ended).toEqual({ applied: 1 });
});

test('a reading is as old as its question: one whose answer took long is made again before the change is sent', async () => {
  const { fresh, ask, row, program, db, sandbox, received } = writer();
  const { id } = await fresh();
  const [asked] = await ask(requests.expecting(id));
  const sentBefore = received('PUT').length;
  let isRead = false;
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    if (!isRead && path.endsWith(id)) {
      isRead = true;
      await change(id, ELSEWHERE);
      await sleep(700);
    }
    return body;
  });

  expect((await drainThrough(api, { freshMs: 500 })).ended).toEqual({ conflict: 1 });
  expect(timeOf(await program(id))).toBe(ELSEWHERE);
  // Theirs alone.
  expect(received('PUT').length - sentBefore).toBe(1);
  expect(await row(asked?.id)).toMatchObject({ state: 'conflict', note: null });
});

/** Returns an api whose first change of the commission arrives; its answer is lost, and `most` readings are refused. */
async function refusingAfter(id: string, most: number): Promise<ApiClient> {
  const { db, sandbox, received } = writer();
  const before = received('PUT').length;
  let answers = 0;
  return makeAlteredApi({ db, sandbox }, async (body, path) => {
    if (!path.endsWith(id) || received('PUT').length === before) return body;
    answers += 1;
    if (answers === 1) return LOST;
    return answers <= 1 + most ? { status: 403, body: '{"error":"not now"}' } : body;
  });
}

test('one that the program refuses to show after a change whose answer was lost is read again', async () => {
  const { fresh, ask, row, program } = writer();
  const { id } = await fresh();
  const [asked] = await ask(requests.pay(id));
  const api = await refusingAfter(id, 2);
  await expect.poll(async () => (await drainThrough(api)).ended).toEqual({ applied: 1 });
  expect(timeOf(await program(id))).toBe(PAID_AT);
  expect(await row(asked?.id)).toMatchObject({
    attempts: 2,
    note: expect.stringContaining('it had arrived'),
  });
});

test('one that the program never shows after a change whose answer was lost fails, and says that it may hold it', async () => {
  const { fresh, ask, row, program, database } = writer();
  const { id } = await fresh();
  const [asked] = await ask(requests.pay(id));
  await database.pool.query('update mirror.commission_updates set attempts = 11 where id = $1', [asked?.id]);
  expect((await drainThrough(await refusingAfter(id, Number.POSITIVE_INFINITY))).ended).toEqual({
    failed: 1,
  });
  expect(timeOf(await program(id))).toBe(PAID_AT);
  expect((await row(asked?.id)).note).toBe(
    'a try sent the change, and its answer was lost: the API may hold it',
  );
});

test('what was deleted after a change whose answer was lost is not found, and the change is not forgotten', async () => {
  const { fresh, ask, row, database } = writer();
  const { id } = await fresh();
  const [asked] = await ask(requests.pay(id));
  const api = await losingFirst(id, () =>
    database.pool.query('delete from program.commissions where id = $1', [id]),
  );
  expect((await drainThrough(api)).ended).toEqual({ not_found: 1 });
  expect((await row(asked?.id)).note).toContain('an earlier try sent the change, and its answer was lost');
});

function timeOf({ paid_at }: ProgramRow): string | null {
  return paid_at?.replace('.000Z', 'Z') ?? null;
}
