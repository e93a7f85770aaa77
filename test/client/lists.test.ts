// Lists as iterators against a program that stays still, moves, lies and fails.

import { describe, expect, onTestFinished, test } from 'vitest';
import { ContractViolation, ListUnverified, WriteOutcomeUnknown } from '../../src/base/errors.ts';
import { type Client, type ClientOptions, createClient } from '../../src/client/client.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase } from '../support/database.ts';

const REFERRALS = 450;

/** A program of the test's own, which it may change, and a client of it. */
async function open(options: Partial<ClientOptions> = {}): Promise<{ sandbox: TestSandbox; client: Client }> {
  const { pool } = await createTestDatabase();
  const sandbox = await runSandbox(pool, { spelling: 'live', affiliates: 30, referrals: REFERRALS });
  return { sandbox, client: newClient({ url: sandbox.url, ...options }) };
}

function newClient(options: Partial<ClientOptions> & { url: string }): Client {
  const client = createClient({ secret: SECRET, rateLimit: null, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function idsOf(records: AsyncIterable<{ id: string }>): Promise<string[]> {
  return (await Array.fromAsync(records)).map(({ id }) => id);
}

describe('a list that stands still', () => {
  test('yields every record once, newest first, by one request for each hundred', async () => {
    const { sandbox, client } = await open();
    const all = (await sandbox.allReferrals()).map(({ id }) => id);
    const before = sandbox.requests.length;
    expect(await idsOf(client.referrals.list())).toEqual(all);
    expect(all).toHaveLength(REFERRALS);
    expect(sandbox.requests.length - before).toBe(5);
  });

  test('asks for a page only when its first record is wanted, and for none after the loop is left', async () => {
    const { sandbox, client } = await open();
    const list = client.referrals.list();
    /** How many pages were asked for, once another request, sent later, has been answered. */
    const countPages = async () => {
      await client.affiliates.find({ email: 'nobody@example.com' });
      return sandbox.requests.filter(({ url }) => url.startsWith('/v1/referrals')).length;
    };
    for (let read = 0; read < 100; read += 1) await list.next();
    expect(await countPages()).toBe(1);
    await list.next();
    expect(await countPages()).toBe(2);
    await list.return();
    expect(await list.next()).toEqual({ done: true, value: undefined });
    expect(await countPages()).toBe(2);
  });
});

test('payouts are listed with their commissions, read and paid; without a UUID nothing is sent', async () => {
  const { pool } = await createTestDatabase();
  const sandbox = await runSandbox(pool, { optionalLists: ['payouts'] });
  const { payouts } = newClient({ url: sandbox.url });
  const due = await Array.fromAsync(payouts.list({ state: 'due', expand: ['affiliate', 'commissions'] }));
  const [{ id, ...payout } = { id: '' }] = due;
  expect(await payouts.get(id.toUpperCase())).toEqual({ id, ...payout });
  expect(await payouts.pay(id)).toMatchObject({ id, state: 'processing', paid_at: null });
  await expect(payouts.pay(id)).rejects.toMatchObject({
    details: ['Could not pay payout', 'State is not due'],
  });
  sandbox.setFaults({ shares: {}, exact: [{ kind: 'reset-after', method: 'PUT' }] });
  await expect(payouts.pay(due[1]?.id ?? '')).rejects.toThrow(WriteOutcomeUnknown);
  const requests = sandbox.requests.length;
  await expect(payouts.pay('all')).rejects.toThrow(TypeError);
  expect(sandbox.requests.length).toBe(requests);
});

describe('a list that moves', () => {
  test('yields every record that stays, though others vanish and come before it', async () => {
    const { sandbox, client } = await open();
    const all = (await sandbox.allReferrals()).map(({ id }) => id);
    const gone = new Set(all.slice(0, 30));
    const yielded: string[] = [];
    for await (const { id } of client.referrals.list()) {
      yielded.push(id);
      if (yielded.length !== 100 && yielded.length !== 300) continue;
      for (const old of [...gone].slice(yielded.length === 100 ? 0 : 15).slice(0, 15)) {
        await sandbox.program.deleteReferral(old);
      }
      await sandbox.program.insertReferral();
    }
    expect(new Set(yielded).size).toBe(yielded.length);
    expect(all.filter((id) => !gone.has(id) && !yielded.includes(id))).toEqual([]);
  });

  test('yields every record that matches throughout, though others begin and cease to match', async () => {
    const { sandbox, client } = await open();
    const matching = (await sandbox.allReferrals('conversion_state=visitor')).map(({ id }) => id);
    const others = (await sandbox.allReferrals('conversion_state=lead')).map(({ id }) => id);
    expect(matching.length).toBeGreaterThan(110);
    // As many cease to match before the reader as begin to, far behind it: the total does not show it.
    const ceasing = new Set(matching.slice(0, 20));
    const yielded: string[] = [];
    for await (const { id } of client.referrals.list({ conversion_state: ['visitor'] })) {
      yielded.push(id);
      if (yielded.length !== 100) continue;
      for (const one of ceasing) {
        await sandbox.program.updateReferral(one, { conversion_state: 'lead' });
      }
      for (const one of others.slice(-ceasing.size)) {
        await sandbox.program.updateReferral(one, { conversion_state: 'visitor' });
      }
    }
    expect(new Set(yielded).size).toBe(yielded.length);
    expect(matching.filter((id) => !ceasing.has(id) && !yielded.includes(id))).toEqual([]);
  });
});

describe('a program that lies', () => {
  async function openAltered(
    alter: (answer: { pagination: Record<string, number>; data: object[] }) => void,
  ) {
    const { sandbox } = await open();
    const proxy = await startAlteringProxy(sandbox.url, (body) => {
      const answer = JSON.parse(body);
      alter(answer);
      return JSON.stringify(answer);
    });
    onTestFinished(() => proxy.close());
    return newClient({ url: proxy.url });
  }

  test.each([
    ['an unfiltered', {}],
    ['a filtered', { conversion_state: ['lead', 'conversion', 'visitor'] }],
  ])('ends %s list with ListUnverified where it states more records than it has', async (_, filters) => {
    const client = await openAltered(({ pagination }) => {
      pagination['total_count'] = (pagination['total_count'] ?? 0) + 3;
    });
    const yielded: string[] = [];
    const read = async () => {
      for await (const { id } of client.referrals.list(filters)) yielded.push(id);
    };
    await expect(read()).rejects.toThrow(ListUnverified);
    await expect(idsOf(client.referrals.list(filters))).rejects.toThrow(
      `the list of referrals may lack records: ${REFERRALS} different records were seen, but the API says that it has ${REFERRALS + 3}`,
    );
    expect(yielded).toHaveLength(REFERRALS);
  });

  test('ends the list at a record that is not what the contract says, naming it, or passes it to onInvalid', async () => {
    const client = await openAltered(({ data }) => {
      for (const record of data.slice(5, 7)) Object.assign(record, { visits: 'many' });
    });
    const failure = await idsOf(client.referrals.list()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ContractViolation);
    expect(String(failure)).toMatch(
      /the record [-0-9a-f]{36} of referrals .*: visits: expected number, got string/,
    );
    const invalid: (string | null)[] = [];
    const ids = await idsOf(client.referrals.list({}, { onInvalid: ({ id }) => invalid.push(id) }));
    // Two of each of five pages, once each.
    expect(invalid).toHaveLength(2 * 5);
    expect(new Set([...ids, ...invalid]).size).toBe(REFERRALS);
  });

  test('passes one without an identifier to onInvalid, and ends the list unverified, without a second walk', async () => {
    const client = await openAltered(({ data, pagination }) => {
      if (pagination.current_page === 1) Object.assign(data[5] ?? {}, { id: null });
    });
    const invalid: (string | null)[] = [];
    const list = client.referrals.list({}, { onInvalid: ({ id }) => invalid.push(id) });
    await expect(idsOf(list)).rejects.toThrow(
      /^the list of referrals may lack records: the list has a record without a usable identifier/,
    );
    expect(invalid).toEqual([null]);
  });
});

describe('a list that is cut short', () => {
  test('throws the reason of its signal, between two records and during a request', async () => {
    const { sandbox, client } = await open();
    const reason = new Error('enough');
    const controller = new AbortController();
    const list = client.referrals.list({}, { signal: controller.signal });
    await list.next();
    controller.abort(reason);
    await expect(list.next()).rejects.toBe(reason);

    sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall' }] });
    const stalled = new AbortController();
    const waiting = client.referrals.list({}, { signal: stalled.signal }).next();
    await expect.poll(() => sandbox.requests.length).toBe(2);
    stalled.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});
