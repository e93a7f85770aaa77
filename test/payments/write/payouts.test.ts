// Payouts that are paid by one request each, on the sandbox, in all that may happen to that request.

import { describe, expect, test } from 'vitest';
import { onlyRow } from '../../../src/db/only-row.ts';
import { requestUpdates } from '../../../src/payments/ask/request-updates.ts';
import { retryUpdates } from '../../../src/payments/ask/revise-updates.ts';
import { readOwnBooks } from '../../../src/payments/books/compare-books.ts';
import { type PayoutRequest, plainPayout } from '../../../src/payments/payout-request.ts';
import { makePayoutsUnderWay } from '../../../src/payments/write/payouts-under-way.ts';
import { makeAlteredApi, PAID_AT, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 60, referrals: 3000 }, ['payouts']);

/** Returns a payout that is due, with what its request expects of it. */
async function duePayout(processingMs: number | null = 0) {
  const { sandbox, database } = writer();
  await sandbox.program.setProcessing(processingMs);
  const payout = await sandbox.program.insertPayout();
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from program.commissions where payout_id = $1 order by id',
    [payout.id],
  );
  const ids = rows.map(({ id }) => id);
  const expected = {
    payout_id: payout.id,
    expected_amount: Number(payout.amount),
    expected_currency: payout.currency,
    expected_commissions: ids.length,
  };
  return { id: payout.id, ids, expected };
}

async function askFor(request: Parameters<typeof plainPayout>[0]): Promise<number> {
  const [asked] = await requestUpdates({ db: writer().db }, [plainPayout(request)], {
    batchId: null,
    requestedBy: 'finance',
  });
  return asked?.id ?? 0;
}

/** Returns the request's line in the payment ledger once it has ended. */
async function ended(request: number) {
  const { drain, row } = writer();
  await expect
    .poll(async () => {
      await drain();
      return (await row(request)).state;
    })
    .not.toBe('pending');
  return await ledger(request);
}

async function ledger(request: number) {
  const { rows } = await writer().database.pool.query(
    'select * from mirror.commission_ledger where request = $1',
    [request],
  );
  return rows[0];
}

const paysOf = (id: string) =>
  writer()
    .received('PUT')
    .filter(({ url }) => url.includes(id)).length;

const mirrored = async (id: string) => {
  const { rows } = await writer().database.pool.query(
    `select id, paid_at is not null as paid from mirror.commissions where payout_id = $1 order by id`,
    [id],
  );
  return rows;
};

test('a payout is read, paid by one PUT, and read until it and its commissions are paid, here too', async () => {
  const { id, ids, expected } = await duePayout(30);
  const request = await askFor(expected);
  expect(await ended(request)).toMatchObject({
    state: 'applied',
    outcome: expect.stringMatching(/^paid at .*, with \d+ commissions?$/),
    payout_id: id,
    commission_ids: expect.arrayContaining(ids),
    commissions: ids.length,
    amount: expected.expected_amount,
    puts: 1,
  });
  expect(paysOf(id)).toBe(1);
  expect(await mirrored(id)).toEqual(ids.map((commission) => ({ id: commission, paid: true })));
  expect((await writer().row(request)).attempts).toBe(0);
  // The books of commissions leave payouts out, and the sums count their commissions.
  expect(
    (await readOwnBooks(writer().db, { since: null })).map(({ commission_id }) => commission_id),
  ).not.toContain(null);
  // Again: it is paid, and nothing is sent.
  expect(await ended(await askFor(expected))).toMatchObject({ state: 'unchanged', puts: 0 });
  expect(paysOf(id)).toBe(1);
});

describe('a PUT whose outcome is not known', () => {
  test.each(['reset-after', 'cut', 'truncated'] as const)('(%s) is settled by reading', async (kind) => {
    const { sandbox } = writer();
    const { id, expected } = await duePayout();
    const request = await askFor(expected);
    sandbox.setFaults({ shares: {}, exact: [{ kind, method: 'PUT' }] });
    expect(await ended(request)).toMatchObject({ state: 'applied' });
    expect(paysOf(id)).toBe(1);
  });

  test.each(['reset', '5xx', '429'] as const)('(%s) and that did not arrive is sent again', async (kind) => {
    const { sandbox } = writer();
    const { id, expected } = await duePayout();
    const request = await askFor(expected);
    sandbox.setFaults({ shares: {}, exact: [{ kind, method: 'PUT' }] });
    expect(await ended(request)).toMatchObject({ state: 'applied' });
    expect(paysOf(id)).toBe(2);
  });
});

test('a payout that another user paid is unchanged, and nothing is sent', async () => {
  const { sandbox } = writer();
  const { id, expected } = await duePayout(20);
  const request = await askFor(expected);
  await sandbox.program.finishPayout(id);
  expect(await ended(request)).toMatchObject({ state: 'unchanged', puts: 0 });
  expect(paysOf(id)).toBe(0);
});

describe('nothing is sent, and the request ends as conflict', () => {
  test.each<[string, Partial<PayoutRequest>, RegExp]>([
    ['another amount', { expected_amount: 1 }, /^expected the amount .*: nothing was sent$/],
    ['another currency', { expected_currency: 'CHF' }, /expected the currency CHF/],
    ['another number', { expected_commissions: 999 }, /expected 999 commissions, but it has/],
  ])('if it has %s', async (_, other, outcome) => {
    const { id, expected } = await duePayout();
    const line = await ended(await askFor({ ...expected, ...other }));
    expect(line).toMatchObject({ state: 'conflict', outcome: expect.stringMatching(outcome), puts: 0 });
    expect(paysOf(id)).toBe(0);
  });

  test('if a commission of it is paid, or has a request that waits', async () => {
    const { sandbox, ask } = writer();
    const { id, ids, expected } = await duePayout();
    const [second = ''] = ids;
    const request = await askFor(expected);
    // A request that is not applied yet.
    const [waiting] = await ask({ commission_id: second, action: 'pay', paid_at: PAID_AT });
    await writer().database.pool.query(
      `update mirror.commission_updates set next_attempt_at = now() + interval '1 day' where id = $1`,
      [waiting?.id],
    );
    expect(await ended(request)).toMatchObject({
      state: 'conflict',
      outcome: `commission ${second} has request ${waiting?.id}, which waits: nothing was sent`,
    });
    const other = await duePayout();
    await sandbox.program.updateCommission(other.ids[0] ?? '', { paid_at: PAID_AT });
    expect(await ended(await askFor(other.expected))).toMatchObject({
      state: 'conflict',
      outcome: expect.stringContaining('is paid already: nothing was sent'),
    });
    expect([paysOf(id), paysOf(other.id)]).toEqual([0, 0]);
  });

  test('if a commission of it is voided by the mirror, unless it is asked for all the same', async () => {
    const { database } = writer();
    const { id, ids, expected } = await duePayout();
    await database.pool.query(
      `insert into mirror.commissions (id, state, voided_at, _first_seen_at, _changed_at, _observed_at)
       values ($1, 'voided', now(), now(), now(), now())`,
      [ids[0]],
    );
    expect(await ended(await askFor(expected))).toMatchObject({
      state: 'conflict',
      outcome: `commission ${ids[0]} is voided: nothing was sent`,
      note: expect.stringContaining('even_if_refunded'),
    });
    expect(await ended(await askFor({ ...expected, even_if_refunded: true }))).toMatchObject({
      state: 'applied',
      asked: 'pay the payout, even if refunded',
    });
    expect(paysOf(id)).toBe(1);
  });
});

test('a request for a commission of it that comes before the PUT leaves keeps the PUT back', async () => {
  const { database } = writer();
  const { id, ids, expected } = await duePayout();
  const request = await askFor(expected);
  // As another process would ask, once the payout was judged.
  await database.pool.query(`
    create function mirror.ask_meanwhile() returns trigger language plpgsql as $$
    begin
      insert into mirror.commission_updates (commission_id, action, next_attempt_at)
      values ('${ids[0]}', 'unpay', now() + interval '1 day');
      return null;
    end $$;
    create trigger ask_meanwhile after insert on mirror.commission_update_attempts
      for each row when (new.method = 'PUT' and new.update_id = ${request}) execute function mirror.ask_meanwhile()`);
  const line = await ended(request);
  await database.pool.query('drop function mirror.ask_meanwhile cascade');
  expect(line).toMatchObject({
    state: 'conflict',
    outcome: expect.stringMatching(/has request \d+, which waits: nothing was sent$/),
    puts: 0,
  });
  expect(paysOf(id)).toBe(0);
});

test('another user pays it between the reading and the PUT: the refusal is no end, what is read then is', async () => {
  const { sandbox, db } = writer();
  const { id, expected } = await duePayout();
  const request = await askFor(expected);
  let isPaid = false;
  const api = await makeAlteredApi({ db, sandbox }, async (body) => {
    if (!isPaid && body.includes(id)) isPaid = await sandbox.program.finishPayout(id);
    return body;
  });
  await writer().drain({ api });
  expect(await ended(request)).toMatchObject({ state: 'unchanged' });
  expect(paysOf(id)).toBe(1);
});

test('a payout that is gone ends as not_found, and one that is not to be paid as conflict', async () => {
  const { sandbox } = writer();
  const gone = await askFor({ payout_id: '00000000-0000-4000-8000-00000000dead' });
  const { id, expected } = await duePayout();
  await sandbox.program.updatePayout(id, { state: 'disputed' });
  const disputed = await askFor(expected);
  expect(await ended(gone)).toMatchObject({
    state: 'not_found',
    outcome: 'the affiliate program has no such payout',
  });
  expect(await ended(disputed)).toMatchObject({
    state: 'conflict',
    outcome: 'its state is disputed, in which it is not to be paid: nothing was sent',
  });
});

test('processing for a day ends as failed; retry reads first, and finds it paid', async () => {
  const { drain, row, database, sandbox, db } = writer();
  const { id, ids, expected } = await duePayout(null);
  const request = await askFor(expected);
  await drain();
  expect(await row(request)).toMatchObject({ state: 'pending', attempts: 0, last_error: null });
  expect(await ledger(request)).toMatchObject({ outcome: 'the payout is being paid' });
  await database.pool.query(
    `update mirror.commission_updates set put_sent_at = now() - interval '25 hours', next_attempt_at = now()
     where id = $1`,
    [request],
  );
  expect(await ended(request)).toMatchObject({
    state: 'failed',
    outcome: 'the payout is still processing a day after it was sent',
  });
  await sandbox.program.finishPayout(id);
  await retryUpdates(db, { kind: 'requests', ids: [request] });
  expect(await ended(request)).toMatchObject({ state: 'applied' });
  expect(paysOf(id)).toBe(1);
  expect(await mirrored(id)).toHaveLength(ids.length);
});

test('of many that were sent one list is read, which ends those that are paid', async () => {
  const { drain, received, database, sandbox } = writer();
  const waiting: { id: string; request: number }[] = [];
  for (let number = 0; number < 12; number += 1) {
    const { id, expected } = await duePayout(null);
    waiting.push({ id, request: await askFor(expected) });
  }
  const requests = waiting.map(({ request }) => request);
  const due = (inSeconds: number) =>
    database.pool.query(
      `update mirror.commission_updates set next_attempt_at = now() + make_interval(secs => $2) where id = any($1)`,
      [requests, inSeconds],
    );
  await drain();
  expect(waiting.map(({ id }) => paysOf(id))).toEqual(waiting.map(() => 1));
  const since = (before: number) =>
    received('GET')
      .slice(before)
      .map(({ url }) => url);
  const beforeList = received('GET').length;
  await due(0);
  // A list is as good as new for ten times as long.
  await drain({ timing: { firstBackoffMs: 60_000 } });
  const lists = since(beforeList);
  expect(lists[0]).toMatch(/^\/v1\/payouts\?page=1&limit=100&state\[\]=processing&state\[\]=paid&expand/);
  expect(lists.every((url) => url.includes('state[]='))).toBe(true);
  expect(lists.filter((url) => url.includes('page=1&'))).toHaveLength(1);
  // One that is paid meanwhile ends by the list, with its commissions in the mirror.
  const [{ id, request } = { id: '', request: 0 }] = waiting;
  await sandbox.program.finishPayout(id);
  const beforeEnd = received('GET').length;
  await due(0);
  expect(await ended(request)).toMatchObject({ state: 'applied', puts: 1 });
  expect(since(beforeEnd).filter((url) => !url.includes('state[]='))).toEqual([]);
  for (const payout of waiting) await sandbox.program.finishPayout(payout.id);
  await due(0);
  for (const payout of waiting) expect(await ended(payout.request)).toMatchObject({ state: 'applied' });
});

test('a list that is older than what the mirror has of a payout decides nothing', async () => {
  const { drain, sandbox, api, db, database } = writer();
  const ids: string[] = [];
  for (let number = 0; number < 12; number += 1) {
    const { id, expected } = await duePayout(null);
    await askFor(expected);
    ids.push(id);
  }
  await drain();
  const [payout_id = ''] = ids;
  await sandbox.program.finishPayout(payout_id);
  const underWay = makePayoutsUnderWay({ api, db });
  const find = (mirrored_at: string) =>
    underWay.find(
      { payout_id, waited_ms: 10_000, mirrored_at },
      { everyMs: 60_000, signal: AbortSignal.timeout(60_000) },
    );
  const now = async () =>
    onlyRow(await database.pool.query('select clock_timestamp() as now'), 'the time').now;
  expect(await find(await now())).toMatchObject({ payout: { state: 'paid' } });
  // The answer to the payment came after the list was asked for.
  expect(await find(await now())).toBe('wait');
});

test('a request for a commission waits while its payout is being paid, and finds it paid', async () => {
  const { drain, row, ask, sandbox, database } = writer();
  const { id, ids, expected } = await duePayout(null);
  const request = await askFor(expected);
  await drain();
  const [single] = await ask({
    commission_id: ids[0] ?? '',
    action: 'pay',
    paid_at: PAID_AT,
    expected_unpaid: true,
  });
  await drain();
  expect(await row(single?.id)).toMatchObject({ state: 'pending', claimed_by: null });
  expect(await ledger(single?.id ?? 0)).toMatchObject({
    outcome: `waits for payout ${id}, which is being paid`,
    payout_id: id,
  });
  // Before the mirror has the payout, the announcement holds it back.
  await database.pool.query(`update mirror.payouts set state = 'due' where id = $1`, [id]);
  await drain();
  expect((await row(single?.id)).state).toBe('pending');
  await sandbox.program.finishPayout(id);
  expect(await ended(request)).toMatchObject({ state: 'applied' });
  expect(await ended(single?.id ?? 0)).toMatchObject({ state: 'conflict' });
});
