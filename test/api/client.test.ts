// The client against the whole program: what it reads and writes, and how each fault ends.

import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/contract/resources.ts';
import { describeError } from '../../src/describe-error.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  ContractViolation,
} from '../../src/errors.ts';
import type { FaultKind } from '../../src/sandbox/fault-plan.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { failureOf, makeClient } from './make-client.ts';
import { useSandbox } from './start-test-sandbox.ts';

const current = useSandbox();
const FIRST_PAGE = { page: 1, limit: 100 };
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

function newClient(options: { timeoutMs?: number; secret?: string } = {}) {
  return makeClient({ url: current().sandbox.url, ...options });
}

function anId(): string {
  const [id] = current().commissionIds;
  if (id === undefined) throw new Error('the program has no commission');
  return id;
}

describe('listing', () => {
  it('returns a page with its envelope, every record fitting the contract', async () => {
    const { api } = newClient();
    const referrals = await api.list('referrals', { page: 2, limit: 100, expand: ['affiliate'] });
    expect(referrals.pagination).toEqual({
      previous_page: 1,
      current_page: 2,
      next_page: null,
      count: 30,
      limit: 100,
      total_pages: 2,
      total_count: 130,
    });
    expect(referrals.data.map((record) => RESOURCES.referrals.schema.parse(record).affiliate)).not.toContain(
      undefined,
    );
    const { data } = await api.list('affiliates', {
      ...FIRST_PAGE,
      expand: ['campaign', 'links', 'commission_stats'],
    });
    const affiliates = data.map((record) => RESOURCES.affiliates.schema.parse(record));
    expect(affiliates).toHaveLength(12);
    for (const affiliate of affiliates) {
      expect(affiliate).toMatchObject({ campaign: {}, links: expect.any(Array), commission_stats: {} });
    }
  });

  it('narrows by every filter of the contract', async () => {
    const { api } = newClient();
    const affiliates = (await api.list('affiliates', { ...FIRST_PAGE, expand: ['campaign'] })).data.map(
      (record) => RESOURCES.affiliates.schema.parse(record),
    );
    const referrals = (await api.list('referrals', { ...FIRST_PAGE, expand: ['affiliate'] })).data.map(
      (record) => RESOURCES.referrals.schema.parse(record),
    );
    const affiliate = affiliates[0];
    const referral = referrals.find(({ customer }) => customer);
    if (!affiliate?.campaign || !referral?.affiliate || !referral.customer?.email) {
      throw new Error('the program is too small');
    }
    const total = async (filters: Parameters<typeof api.list<'referrals'>>[1]['filters']) =>
      (await api.list('referrals', { ...FIRST_PAGE, ...(filters && { filters }) })).pagination.total_count;
    const all = await total(undefined);
    for (const filters of [
      { affiliate_id: referral.affiliate.id },
      { conversion_state: ['lead'] },
      { conversion_state: ['conversion', 'unheard_of'] },
      { email: referral.customer.email },
      { stripe_customer_id: referral.processor_customer_id ?? '' },
      { affiliate_id: referral.affiliate.id, email: referral.customer.email },
    ]) {
      expect(await total(filters), JSON.stringify(filters)).toBeGreaterThan(0);
      expect(await total(filters), JSON.stringify(filters)).toBeLessThan(all);
    }
    for (const filters of [{ campaign_id: affiliate.campaign.id }, { email: affiliate.email ?? '' }]) {
      const { data } = await api.list('affiliates', { ...FIRST_PAGE, filters });
      expect(data).toContainEqual(expect.objectContaining({ id: affiliate.id }));
    }
    const none = await api.list('affiliates', { ...FIRST_PAGE, filters: { email: 'nobody@example.com' } });
    expect(none).toMatchObject({ data: [], pagination: { total_count: 0 } });
  });
});

describe('a commission', () => {
  it('is read, marked paid, left as it is, and marked unpaid again', async () => {
    const { api } = newClient();
    const id = anId();
    const before = await api.getCommission(id);
    expect(before.commission.id).toBe(id);
    expect(before.askedAt <= before.answeredAt).toBe(true);
    const paid = await api.putCommission(id, { paid_at: '2026-02-03T04:05:06Z' });
    expect(Date.parse(paid.commission.paid_at ?? '')).toBe(Date.parse('2026-02-03T04:05:06Z'));
    const moved = await api.putCommission(id, { due_at: '2026-05-06T07:08:09Z' });
    expect(moved.commission.paid_at).toBe(paid.commission.paid_at);
    const unpaid = await api.putCommission(id, { paid_at: null });
    expect(unpaid.commission).toMatchObject({ paid_at: null, due_at: moved.commission.due_at });
    expect((await api.getCommission(id)).commission).toEqual(unpaid.commission);
  });

  it('that does not exist is rejected at once, with the program’s words', async () => {
    const { api } = newClient();
    for (const call of [
      () => api.getCommission(UNKNOWN_ID),
      () => api.putCommission(UNKNOWN_ID, { paid_at: null }),
    ]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(ApiRejected);
      expect(error).toMatchObject({ status: 404, details: [`Commission not found: ${UNKNOWN_ID}`] });
      expect(describeError(error)).toMatch(/^the program rejected \w+ \S+ \(404\)$/);
    }
    expect(current().received()).toBe(2);
  });

  it('whose change is invalid is rejected with the details', async () => {
    const error = await failureOf(newClient().api.putCommission(anId(), { due_at: 'soon' }));
    expect(error).toMatchObject({
      name: 'ApiRejected',
      status: 422,
      details: [expect.any(String), expect.any(String)],
    });
    expect(error).toMatchObject({ details: expect.arrayContaining([expect.stringContaining('Due at')]) });
    expect(current().received()).toBe(1);
  });
});

describe('a wrong secret', () => {
  it('ends at once, naming the variable to fix', async () => {
    const { api } = newClient({ secret: 'sk_live_of_somebody_else' });
    for (const call of [
      () => api.list('affiliates', FIRST_PAGE),
      () => api.getCommission(anId()),
      () => api.putCommission(anId(), { paid_at: null }),
    ]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(ApiUnauthorized);
      expect(describeError(error)).toBe(
        "the program refused the API secret (401): check AFFILIATE_API_SECRET against the account's company settings; the operator may have rotated it",
      );
    }
    expect(current().received()).toBe(3);
  });
});

const FAULTS = [
  { kind: '5xx', expected: ApiUnavailable, attempts: 5 },
  { kind: 'reset', expected: ApiUnreachable, attempts: 5 },
  { kind: 'stall', expected: ApiUnreachable, attempts: 5 },
  { kind: 'cut', expected: ApiUnreachable, attempts: 5 },
  { kind: 'truncated', expected: ContractViolation, attempts: 5 },
  { kind: 'html', expected: ContractViolation, attempts: 5 },
  { kind: 'no-envelope', expected: ContractViolation, attempts: 5 },
  { kind: '429', expected: ApiThrottled, attempts: 10 },
] as const satisfies { kind: FaultKind; expected: unknown; attempts: number }[];

const READS = [
  { what: 'a list', read: (api: ReturnType<typeof newClient>['api']) => api.list('referrals', FIRST_PAGE) },
  { what: 'a commission', read: (api: ReturnType<typeof newClient>['api']) => api.getCommission(anId()) },
];

describe.each(READS)('reading $what', ({ read }) => {
  it.each(FAULTS)('gets over $kind before the attempts are used up', async ({ kind, attempts }) => {
    const { askedAt: _, ...expected } = await read(newClient().api);
    const { sandbox, received } = current();
    const isStall = kind === 'stall';
    const times = isStall ? 1 : attempts - 1;
    sandbox.setFaults({ shares: {}, exact: [{ kind, times }] });
    const { api, permits, events, waits } = newClient(isStall ? { timeoutMs: 400 } : {});
    const result = await read(api);
    expect(result).toMatchObject(
      'answeredAt' in expected ? { ...expected, answeredAt: expect.any(String) } : expected,
    );
    expect(received() - 1).toBe(times + 1);
    expect(permits.granted()).toBe(times + 1);
    expect(permits.returned).toHaveLength(times + 1);
    expect(events.map(({ attempt }) => attempt)).toEqual(Array.from({ length: times + 1 }, (_, i) => i + 1));
    expect(events.at(-1)?.status).toBe(200);
    expect(waits()).toBe(times);
  });

  it.each(FAULTS)('ends as the right error when $kind stays', async ({ kind, expected, attempts }) => {
    const { sandbox, received } = current();
    sandbox.setFaults({ shares: { [kind]: 1 }, exact: [] });
    const { api, permits, lines } = newClient(kind === 'stall' ? { timeoutMs: 100 } : {});
    const error = await failureOf(read(api));
    expect(error).toBeInstanceOf(expected);
    expect(describeError(error)).toContain(`after ${attempts} attempts`);
    expect(describeError(error)).not.toMatch(/[\n\r]/);
    expect(received()).toBe(attempts);
    expect(permits.granted()).toBe(attempts);
    expect(permits.returned).toHaveLength(attempts);
    expect(lines.filter((line) => JSON.parse(line).msg === 'api.request_sent')).toHaveLength(attempts);
  });

  it.each(['redirect', 'html'] as const)(
    'asks past a passing %s in front of a program that it knows',
    async (kind) => {
      const { sandbox, received } = current();
      const { api } = newClient();
      await read(api);
      sandbox.setFaults({ shares: {}, exact: [{ kind, times: 2 }] });
      await read(api);
      expect(received()).toBe(4);
    },
  );

  it('ends at once on a redirect where the program has never answered', async () => {
    const { sandbox, received } = current();
    sandbox.setFaults({ shares: { redirect: 1 }, exact: [] });
    const error = await failureOf(read(newClient().api));
    expect(error).toMatchObject({ name: 'ApiRejected', status: 302 });
    expect(describeError(error)).toContain(`to ${sandbox.url}: check AFFILIATE_API_URL`);
    expect(received()).toBe(1);
  });
});

describe('the account’s limit', () => {
  it('is passed to the budget with every answer, and a request beyond it is sent again with a new permit', async () => {
    const { sandbox } = current();
    sandbox.setRateLimit({ requests: 2, windowSeconds: 30 });
    const budget = makeUnlimitedPermits();
    const { api } = makeClient({ url: sandbox.url }, (signal) => {
      if (budget.returned.at(-1)?.throttled) sandbox.setRateLimit(null);
      return budget.takePermit(signal);
    });
    for (let request = 0; request < 3; request += 1) await api.list('affiliates', { page: 1, limit: 1 });
    expect(budget.returned.map((limits) => limits?.throttled)).toEqual([false, false, true, false]);
    expect(budget.returned.map((limits) => limits?.remaining)).toEqual([1, 0, 0, null]);
    expect(budget.returned[2]?.resetMs).toBeGreaterThan(28_000);
  });
});

describe('the log', () => {
  it('holds one line per request, with what was asked and what came', async () => {
    const { api, lines } = newClient();
    await api.list('referrals', { page: 1, limit: 2, filters: { conversion_state: 'lead' } });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        msg: 'api.request_sent',
        level: 20,
        method: 'GET',
        path: '/v1/referrals',
        query: 'page=1&limit=2&conversion_state=lead',
        status: 200,
        ms: expect.any(Number),
        attempt: 1,
      }),
    ]);
  });
});
