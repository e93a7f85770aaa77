// Single reads, changes, and what the client refuses before it sends anything.

import { expect, onTestFinished, test } from 'vitest';
import {
  type ClientOptions,
  ConfigError,
  ContractViolation,
  createClient,
  WriteOutcomeUnknown,
} from '../../src/client/client.ts';
import { failureOf, SECRET } from '../api/make-client.ts';
import { useSandbox } from '../api/start-test-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { inCapitals } from '../support/in-capitals.ts';

const current = useSandbox();
const PAID_AT = '2026-10-01T12:00:00.000Z';

function newClient(options: Partial<ClientOptions> = {}) {
  const client = createClient({ url: current().sandbox.url, secret: SECRET, rateLimit: null, ...options });
  onTestFinished(() => client.close());
  return client;
}

function anId(): string {
  return current().commissionIds[0] ?? '';
}

test('an identifier in capitals leads to the same records, whose identifiers are in lower case', async () => {
  const { sandbox } = current();
  const proxy = await startAlteringProxy(sandbox.url, (body) => inCapitals(body));
  onTestFinished(() => proxy.close());
  const { affiliates, commissions, referrals } = newClient({ url: proxy.url });
  expect((await commissions.get(anId().toUpperCase())).id).toBe(anId());
  expect((await commissions.update(anId().toUpperCase(), { paid_at: PAID_AT })).id).toBe(anId());
  const ids = (records: readonly { id: string }[]) => records.map(({ id }) => id);
  const all = await Array.fromAsync(affiliates.list());
  expect(ids(all).join()).toBe(ids(all).join().toLowerCase());
  const [{ id } = { id: '' }] = all;
  const theirs = ids(await Array.fromAsync(referrals.list({ affiliate_id: id })));
  expect(theirs.length).toBeGreaterThan(0);
  expect(ids(await Array.fromAsync(referrals.list({ affiliate_id: id.toUpperCase() })))).toEqual(theirs);
});

test.each<[string, () => Promise<unknown>]>([
  ['no UUID', () => newClient().commissions.get('../affiliates')],
  ['no UUID', () => newClient().commissions.update('', { paid_at: PAID_AT })],
  ['a time without a zone', () => newClient().commissions.update(anId(), { paid_at: '2026-10-01 12:00' })],
  ['no change', () => newClient().commissions.update(anId(), {})],
])('%s is a TypeError, and nothing is sent', async (_, call) => {
  await expect(call()).rejects.toThrow(TypeError);
  expect(current().received()).toBe(0);
});

/** Calls as a caller without types makes them. */
const find = (key: unknown) => newClient().affiliates.find(key as never);
const update = (change: unknown) => newClient().commissions.update(anId(), change as never);
const list = async (parameters: unknown) => newClient().referrals.list(parameters as never);

test.each<[(given: unknown) => Promise<unknown>, unknown, string]>([
  [find, {}, 'affiliates.find takes one of email, stripe_customer_id'],
  [find, { email: 'a@example.com', stripe_customer_id: 'cus_1' }, 'takes one of email, stripe_customer_id'],
  [find, { emial: 'a' }, 'does not know emial: it takes email, stripe_customer_id, expand'],
  [find, { email: ' ' }, 'affiliates.find email must not be blank'],
  [update, { paid: PAID_AT }, 'commissions.update does not know paid: it takes paid_at, due_at'],
  [update, { paid_at: PAID_AT, toString: '' }, 'commissions.update does not know toString'],
  [list, { email: ['a@example.com'] }, 'referrals.list email must be text'],
  [list, { conversion_state: [] }, 'referrals.list conversion_state Too small'],
  [list, { conversion_state: ['lead', ''] }, 'referrals.list conversion_state.1 must not be blank'],
  [list, { expand: 'affiliate' }, 'referrals.list expand Invalid input: expected array'],
  [list, [], 'referrals.list takes an object'],
])('%o with %j is a TypeError that says so, and nothing is sent', async (call, given, message) => {
  const failure = await failureOf(call(given));
  expect(failure).toBeInstanceOf(TypeError);
  expect(String(failure)).toContain(message);
  expect(current().received()).toBe(0);
});

test('an affiliate is found by its email address in one request, and nobody is null', async () => {
  const { affiliates } = newClient();
  const [some] = await Array.fromAsync(affiliates.list());
  const requests = current().received();
  const found = await affiliates.find({ email: some?.email ?? '', expand: ['links', 'campaign'] });
  expect(found).toMatchObject({ id: some?.id, links: expect.any(Array), campaign: {} });
  expect(await affiliates.find({ email: 'nobody@example.com' })).toBeNull();
  expect(current().received() - requests).toBe(2);
});

test('several affiliates for one address are refused: any of them could be the wrong one', async () => {
  const proxy = await startAlteringProxy(current().sandbox.url, (body) => {
    const answer = JSON.parse(body);
    return JSON.stringify({ ...answer, data: [...answer.data, ...answer.data] });
  });
  onTestFinished(() => proxy.close());
  const [some] = await Array.fromAsync(newClient().affiliates.list());
  const { affiliates } = newClient({ url: proxy.url });
  await expect(affiliates.find({ email: some?.email ?? '' })).rejects.toThrow(ContractViolation);
});

test('a call after close is a TypeError that says so, and nothing is sent', async () => {
  const client = newClient();
  const begun = client.referrals.list();
  for (let read = 0; read < 100; read += 1) await begun.next();
  await client.close();
  const requests = current().received();
  const calls = [
    () => client.commissions.get(anId()),
    () => client.commissions.update(anId(), { paid_at: PAID_AT }),
    () => client.affiliates.find({ email: 'ada@example.com' }),
    () => client.affiliates.list().next(),
    () => client.referrals.list({ conversion_state: 'lead' }).next(),
    // The next page of a list that was begun before.
    () => begun.next(),
  ];
  for (const call of calls) {
    const failure = await failureOf(call());
    expect(failure).toBeInstanceOf(TypeError);
    expect(String(failure)).toContain('the client is closed');
  }
  expect(current().received()).toBe(requests);
});

test('calls that are under way when the client is closed fail; a change that was sent, with its outcome unknown', async () => {
  const client = newClient();
  current().sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall' }, { kind: 'stall' }] });
  const calls = [client.commissions.get(anId()), client.commissions.update(anId(), { paid_at: PAID_AT })];
  const failures = Promise.all(calls.map(failureOf));
  await expect.poll(() => current().received()).toBe(2);
  await client.close();
  const [read, change] = await failures;
  expect(read).toBeInstanceOf(Error);
  expect(change).toBeInstanceOf(WriteOutcomeUnknown);
});

test('everything that is wrong with the options is said at once', () => {
  const make = (options: Partial<ClientOptions>) => () =>
    createClient({ url: 'https://api.example.com', secret: 'secret', ...options });
  expect(make({ url: 'http://api.example.com/v1', secret: ' ', timeoutMs: 0.5 })).toThrow(
    new ConfigError([
      'url must start with https://: over http:// the secret would travel in the clear',
      'secret holds no secret: it is empty',
      'timeoutMs must be a whole number of milliseconds from 1 to 2147483647',
    ]),
  );
  const budget = async () => {
    throw new Error('never asked');
  };
  expect(make({ rateLimit: null, budget })).toThrow('rateLimit and budget are both given: keep one of them');
  // As from JavaScript, where a variable that is not set is passed on.
  const limit = { requests: 45, windowSeconds: 30 };
  expect(make({ secret: undefined, budget: limit } as never)).toThrow(
    new ConfigError([
      'secret holds no secret: it is empty',
      'budget must be a function, such as createBudget(…) returns: pass a limit as rateLimit',
    ]),
  );
});
