// Single reads, changes, and what the client refuses before it sends anything.

import { expect, onTestFinished, test } from 'vitest';
import {
  type ClientOptions,
  ConfigError,
  ContractViolation,
  createClient,
  type RequestEvent,
  WriteOutcomeUnknown,
} from '../../src/client/client.ts';
import { describeError } from '../../src/describe-error.ts';
import { failureOf, SECRET } from '../api/make-client.ts';
import { useSandbox } from '../api/start-test-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { inCapitals } from '../support/in-capitals.ts';

const current = useSandbox();
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const PAID_AT = '2026-10-01T12:00:00.000Z';

function newClient(options: Partial<ClientOptions> = {}) {
  const client = createClient({ url: current().sandbox.url, secret: SECRET, rateLimit: null, ...options });
  onTestFinished(() => client.close());
  return client;
}

function anId(): string {
  return current().commissionIds[0] ?? '';
}

test('a commission is read, marked paid and marked unpaid again', async () => {
  const { commissions } = newClient();
  await commissions.update(anId(), { paid_at: null });
  const unpaid = await commissions.get(anId());
  expect(unpaid).toMatchObject({ id: anId(), paid_at: null, sale: { referral: {}, affiliate: {} } });
  expect((await commissions.update(anId(), { paid_at: PAID_AT })).paid_at).toBe(PAID_AT);
  expect(await commissions.get(anId())).toMatchObject({ paid_at: PAID_AT, due_at: unpaid.due_at });
  expect((await commissions.update(anId(), { paid_at: null })).paid_at).toBeNull();
});

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

test('a commission that is not there is ApiRejected with status 404', async () => {
  const { commissions } = newClient();
  const refused = { name: 'ApiRejected', status: 404 };
  expect(await failureOf(commissions.get(UNKNOWN_ID))).toMatchObject(refused);
  expect(await failureOf(commissions.update(UNKNOWN_ID, { paid_at: PAID_AT }))).toMatchObject(refused);
});

test('a change whose answer is lost is WriteOutcomeUnknown, and sent once', async () => {
  const { commissions } = newClient();
  current().sandbox.setFaults({ shares: {}, exact: [{ kind: 'reset-after', method: 'PUT' }] });
  await expect(commissions.update(anId(), { paid_at: PAID_AT })).rejects.toThrow(WriteOutcomeUnknown);
  expect(current().received()).toBe(1);
});

test.each<[string, () => Promise<unknown>]>([
  ['no UUID', () => newClient().commissions.get('../affiliates')],
  ['no UUID', () => newClient().commissions.update('', { paid_at: PAID_AT })],
  ['a time without a zone', () => newClient().commissions.update(anId(), { paid_at: '2026-10-01 12:00' })],
  ['a blank time', () => newClient().commissions.update(anId(), { paid_at: '' })],
  ['no change', () => newClient().commissions.update(anId(), {})],
])('%s is a TypeError, and nothing is sent', async (_, call) => {
  await expect(call()).rejects.toThrow(TypeError);
  expect(current().received()).toBe(0);
});

/** As a caller without types passes it. */
function untyped(parameters: unknown): never {
  return parameters as never;
}

test.each<[string, unknown, string]>([
  ['no key', {}, 'affiliates.find takes one of email, stripe_customer_id'],
  ['only what to expand', { expand: ['links'] }, 'affiliates.find takes one of email, stripe_customer_id'],
  [
    'both keys',
    { email: 'a@example.com', stripe_customer_id: 'cus_1' },
    'takes one of email, stripe_customer_id',
  ],
  [
    'an unknown key',
    { emial: 'a@example.com' },
    'does not know emial: it takes email, stripe_customer_id, expand',
  ],
  ['a filter that is no key', { campaign_id: UNKNOWN_ID }, 'affiliates.find does not know campaign_id'],
  ['a blank key', { email: ' ' }, 'affiliates.find email must not be blank'],
  ['a key without a value', { email: undefined }, 'affiliates.find email must be text'],
  ['several values', { email: ['a@example.com'] }, 'affiliates.find email must be text'],
  [
    'an unknown expansion',
    { email: 'a@example.com', expand: ['x'] },
    'affiliates.find expand.0 Invalid option: expected one of "campaign"|"links"',
  ],
  ['text', 'a@example.com', 'affiliates.find takes an object'],
  ['nothing', undefined, 'affiliates.find takes an object'],
])('a search by %s is a TypeError that says so, and nothing is sent', async (_, key, message) => {
  const failure = await failureOf(newClient().affiliates.find(untyped(key)));
  expect(failure).toBeInstanceOf(TypeError);
  expect(String(failure)).toContain(message);
  expect(current().received()).toBe(0);
});

test.each<[string, unknown, string]>([
  ['an unknown field', { paid: PAID_AT }, 'commissions.update does not know paid: it takes paid_at, due_at'],
  ['an unknown field beside a known one', { paid_at: PAID_AT, dueAt: PAID_AT }, 'does not know dueAt'],
  ['the name of a method', { paid_at: PAID_AT, toString: '' }, 'commissions.update does not know toString'],
  ['text', PAID_AT, 'commissions.update takes an object of paid_at, due_at'],
  ['an array', [], 'commissions.update takes an object'],
  ['nothing', undefined, 'commissions.update takes an object'],
])('a change by %s is a TypeError that says so, and nothing is sent', async (_, change, message) => {
  const failure = await failureOf(newClient().commissions.update(anId(), untyped(change)));
  expect(failure).toBeInstanceOf(TypeError);
  expect(String(failure)).toContain(message);
  expect(current().received()).toBe(0);
});

test.each<[string, unknown, string]>([
  [
    'an unknown filter',
    { conversionState: 'lead' },
    'referrals.list does not know conversionState: it takes affiliate_id, conversion_state, email, stripe_customer_id, expand',
  ],
  ['the name of a method', { toString: 'lead' }, 'referrals.list does not know toString'],
  ['a blank filter', { affiliate_id: '' }, 'referrals.list affiliate_id must not be blank'],
  ['a filter without a value', { affiliate_id: undefined }, 'referrals.list affiliate_id must be text'],
  ['a number', { affiliate_id: 7 }, 'referrals.list affiliate_id must be text'],
  ['several values', { email: ['a@example.com'] }, 'referrals.list email must be text'],
  [
    'no state',
    { conversion_state: [] },
    'referrals.list conversion_state Too small: expected array to have >=1 items',
  ],
  [
    'a blank state',
    { conversion_state: ['lead', ''] },
    'referrals.list conversion_state.1 must not be blank',
  ],
  ['an unknown expansion', { expand: ['x'] }, 'referrals.list expand.0 Invalid input: expected "affiliate"'],
  [
    'an expansion in no array',
    { expand: 'affiliate' },
    'referrals.list expand Invalid input: expected array',
  ],
  ['null', null, 'referrals.list takes an object'],
  ['an array', [], 'referrals.list takes an object'],
])('a list by %s is a TypeError that says so, before its loop begins', (_, parameters, message) => {
  const { referrals } = newClient();
  const list = () => referrals.list(untyped(parameters));
  expect(list).toThrow(TypeError);
  expect(list).toThrow(message);
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

test('every request is an event, retries included, without its query', async () => {
  const events: RequestEvent[] = [];
  const { affiliates } = newClient({ onRequest: (event) => events.push(event) });
  current().sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx' }] });
  await affiliates.find({ email: 'ada@example.com' });
  expect(events.map(({ method, path, attempt }) => ({ method, path, attempt }))).toEqual([
    { method: 'GET', path: '/v1/affiliates', attempt: 1 },
    { method: 'GET', path: '/v1/affiliates', attempt: 2 },
  ]);
  expect(events.map(({ status }) => status)).toEqual([expect.any(Number), 200]);
});

test('the secret is in no error', async () => {
  const secret = 'another-secret-of-someone';
  const failure = await failureOf(newClient({ secret }).commissions.get(anId()));
  expect(`${describeError(failure)}${JSON.stringify(failure)}`).not.toContain(secret);
});

test('await using closes the client, and closing it again does nothing', async () => {
  let kept = newClient();
  {
    await using client = newClient();
    await client.commissions.get(anId());
    kept = client;
  }
  await kept.close();
  await expect(kept.commissions.get(anId())).rejects.toThrow(TypeError);
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
    expect(String(failure)).toContain('the client was closed');
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
  expect(make({ rateLimit: { requests: 0, windowSeconds: -1 } })).toThrow(
    /rateLimit\.requests must .*\nrateLimit\.windowSeconds must /,
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
      'budget must be a function, such as createBudget(…) returns: a limit is given as rateLimit',
    ]),
  );
});
