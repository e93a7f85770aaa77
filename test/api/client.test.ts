// The client against the whole program: what it reads and writes, and how each fault ends.

import { describe, expect, it } from 'vitest';
import { describeError } from '../../src/base/describe-error.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  ContractViolation,
} from '../../src/base/errors.ts';
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

describe('a commission', () => {
  it('that does not exist is rejected at once, with the program’s words', async () => {
    const { api } = newClient();
    for (const call of [
      () => api.getCommission(UNKNOWN_ID),
      () => api.putCommission(UNKNOWN_ID, { paid_at: null }),
    ]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(ApiRejected);
      expect(error).toMatchObject({ status: 404, details: [`Commission not found: ${UNKNOWN_ID}`] });
      expect(describeError(error)).toMatch(/^the API rejected \w+ \S+ \(404\)$/);
    }
    expect(current().received()).toBe(2);
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
        "the API refused the secret (401): check AFFILIATE_API_SECRET against the account's company settings; the operator may have rotated it",
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

  it('ends at once on a redirect where the program has never answered', async () => {
    const { sandbox, received } = current();
    sandbox.setFaults({ shares: { redirect: 1 }, exact: [] });
    const error = await failureOf(read(newClient().api));
    expect(error).toMatchObject({ name: 'ApiRejected', status: 302 });
    expect(describeError(error)).toContain('redirect (302): check AFFILIATE_API_URL');
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
