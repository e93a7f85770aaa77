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
import { describeError } from '../../src/errors.ts';
import { failureOf, SECRET } from '../api/make-client.ts';
import { useSandbox } from '../api/start-test-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';

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

test('a commission that is not there is ApiRejected with status 404', async () => {
  const { commissions } = newClient();
  for (const call of [commissions.get(UNKNOWN_ID), commissions.update(UNKNOWN_ID, { paid_at: PAID_AT })]) {
    expect(await failureOf(call)).toMatchObject({ name: 'ApiRejected', status: 404 });
  }
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
  await expect(kept.commissions.get(anId())).rejects.toThrow();
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
});
