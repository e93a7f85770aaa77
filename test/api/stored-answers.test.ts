// A cache in front of the program that answers reads from its store: what the client makes of it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AnswerStored } from '../../src/errors.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startCachingProxy } from '../support/caching-proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { failureOf, makeClient } from './make-client.ts';
import { COMMISSION, ID, PAY, rawAnswer, startRawProgram } from './raw-program.ts';

let sandbox: TestSandbox;
let id = '';

beforeAll(async () => {
  const { pool } = await createTestDatabase();
  sandbox = await runSandbox(pool, { affiliates: 10, referrals: 120, optionalLists: ['commissions'] });
  id = (await sandbox.commissions('?limit=1')).data[0]?.id ?? '';
});
afterAll(() => sandbox.close());

async function open() {
  const proxy = await startCachingProxy(sandbox.url);
  return { proxy, ...makeClient({ url: proxy.url, secret: SECRET }) };
}

const LIST = { page: 1, limit: 10 } as const;

test('every read is asked for with cache-control: no-cache', async () => {
  const list =
    '{"pagination":{"previous_page":null,"current_page":1,"next_page":null,"count":0,"limit":10,"total_pages":0,"total_count":0},"data":[]}';
  const program = await startRawProgram((socket, _number, request) =>
    socket.write(rawAnswer('200 OK', request.includes(ID) ? COMMISSION : list)),
  );
  const { api } = makeClient({ url: program.url });
  await api.list('affiliates', LIST);
  await api.getCommission(ID);
  await api.putCommission(ID, PAY);
  const asking = program.requests.map((request) => /^cache-control: no-cache\r$/m.test(request));
  expect(asking).toEqual([true, true, false]);
});

describe('an answer that says by Age that it is an hour old', () => {
  test('counts as that old where it is a page, and the caller takes that', async () => {
    const { api, proxy } = await open();
    const fresh = await api.list('affiliates', LIST);
    expect(fresh.ageMs).toBe(0);
    proxy.age(3600);
    const stored = await api.list('affiliates', LIST, { takesStored: true });
    expect(stored.data).toEqual(fresh.data);
    expect(Date.parse(stored.askedAt)).toBeLessThan(Date.parse(fresh.askedAt) - 3_500_000);
    expect(stored.ageMs).toBeGreaterThanOrEqual(3_600_000);
  });

  test('is an error to any other caller, and is not asked for again', async () => {
    const { api, proxy, events } = await open();
    await api.getCommission(id);
    await api.list('affiliates', LIST);
    proxy.age(3600);
    for (const call of [api.getCommission(id), api.list('affiliates', LIST)]) {
      const error = await failureOf(call);
      expect(error).toBeInstanceOf(AnswerStored);
      expect(String(error)).toMatch(/from its store: the answer is 36\d\d s older than the question/);
    }
    expect(new Set(events.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  });

  test.each([404, 401])('refuses nothing with %i, neither a record nor the secret', async (status) => {
    const { api, proxy } = await open();
    proxy.plant(`/v1/commissions/${id}`, status, '{"error":"stored"}');
    proxy.age(3600);
    expect(await failureOf(api.getCommission(id))).toBeInstanceOf(AnswerStored);
  });
});
