// Clients and their budgets in memory: never more than the limit in any window.

import { expect, onTestFinished, test } from 'vitest';
import { type ClientOptions, createBudget, createClient } from '../../src/client/client.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { SECRET } from '../api/make-client.ts';
import { useSandbox } from '../api/start-test-sandbox.ts';

const current = useSandbox();
const MINUTE_MS = 60_000;

function newClient(options: Partial<ClientOptions>) {
  const client = createClient({ url: current().sandbox.url, secret: SECRET, ...options });
  onTestFinished(() => client.close());
  return client;
}

test('clients that share a budget never exceed the limit, and lose no request to it', async () => {
  const limit = { requests: 5, windowSeconds: 0.4 };
  current().sandbox.setRateLimit(limit);
  const budget = createBudget(limit);
  const statuses: (number | null)[] = [];
  const clients = [1, 2, 3].map(() =>
    newClient({ budget, onRequest: ({ status }) => statuses.push(status) }),
  );
  const [id = ''] = current().commissionIds;
  const calls = clients.flatMap(({ commissions }) => Array.from({ length: 7 }, () => commissions.get(id)));
  await Promise.all(calls);
  expect(statuses).toEqual(Array.from({ length: 21 }, () => 200));
});

test('a client has a budget of its own, of 45 requests in 30 seconds where nothing else is said', async () => {
  const { commissions } = newClient({});
  const [id = ''] = current().commissionIds;
  const stop = new AbortController();
  const calls = Array.from({ length: 50 }, () => commissions.get(id, { signal: stop.signal }));
  const ends = Promise.allSettled(calls);
  await Promise.all(calls.slice(0, 45));
  stop.abort();
  expect((await ends).filter(({ status }) => status === 'fulfilled')).toHaveLength(45);
});

test('a call that is given up counts on, for as long as its client would have waited', async () => {
  const rateLimit = { requests: 1, windowSeconds: 0.01 };
  const { commissions } = newClient({ rateLimit, timeoutMs: MINUTE_MS });
  const [id = ''] = current().commissionIds;
  current().sandbox.setFaults({ shares: { stall: 1 }, exact: [] });
  const arrived = () => current().sandbox.requests.length;
  const before = arrived();
  const stop = new AbortController();
  const given = expect(commissions.get(id, { signal: stop.signal })).rejects.toThrow('given up');
  await expect.poll(arrived).toBe(before + 1);
  stop.abort(new Error('given up'));
  await given;
  current().sandbox.setFaults(NO_FAULTS);
  await expect(commissions.get(id, { signal: AbortSignal.timeout(200) })).rejects.toThrow('timeout');
  expect(arrived()).toBe(before + 1);
});
