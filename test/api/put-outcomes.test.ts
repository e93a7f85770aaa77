// What is known of a payment after each way in which its PUT can go wrong, and that it is never sent again unchecked.

import { describe, expect, it } from 'vitest';
import { describeError } from '../../src/base/describe-error.ts';
import { WriteOutcomeUnknown } from '../../src/base/errors.ts';
import type { FaultKind } from '../../src/sandbox/fault-plan.ts';
import { failureOf, makeClient } from './make-client.ts';
import { useSandbox } from './start-test-sandbox.ts';

const current = useSandbox();
const PAID_AT = '2026-02-03T04:05:06.000Z';

/** Returns an unpaid commission that no other test has touched. */
async function anUnpaidId(): Promise<string> {
  const { sandbox, commissionIds } = current();
  const id = commissionIds[used++];
  if (id === undefined) throw new Error('the program has too few commissions');
  await sandbox.program.updateCommission(id, { paid_at: null });
  return id;
}
let used = 0;

const AMBIGUOUS = [
  { kind: '5xx', isApplied: false, cause: 'ApiUnavailable' },
  { kind: 'reset', isApplied: false, cause: 'ApiUnreachable' },
  { kind: 'reset-after', isApplied: true, cause: 'ApiUnreachable' },
  { kind: 'stall', isApplied: false, cause: 'ApiUnreachable' },
  { kind: 'cut', isApplied: true, cause: 'ApiUnreachable' },
  { kind: 'truncated', isApplied: true, cause: 'ContractViolation' },
  { kind: 'html', isApplied: false, cause: 'ContractViolation' },
  { kind: 'no-envelope', isApplied: true, cause: 'ContractViolation' },
  { kind: 'redirect', isApplied: false, cause: 'ApiRejected' },
] as const satisfies { kind: FaultKind; isApplied: boolean; cause: string }[];

describe('a PUT that the program fails', () => {
  it.each(AMBIGUOUS)('by $kind is sent once and of unknown outcome', async ({ kind, isApplied, cause }) => {
    const { sandbox, received } = current();
    const id = await anUnpaidId();
    sandbox.setFaults({ shares: {}, exact: [{ kind, method: 'PUT', times: 100 }] });
    const options = { url: sandbox.url, ...(kind === 'stall' && { timeoutMs: 200 }) };
    const { api, permits } = makeClient(options);
    const error = await failureOf(api.putCommission(id, { paid_at: PAID_AT }));
    expect(error).toBeInstanceOf(WriteOutcomeUnknown);
    expect(error).toMatchObject({ retry: 'reconcile', cause: { name: cause } });
    expect(describeError(error)).toContain(`PUT /v1/commissions/${id} was sent`);
    expect(received()).toBe(1);
    expect(permits.returned).toHaveLength(1);
    // Both happen, with the same error, so nothing may be concluded from it.
    const live = await makeClient({ url: sandbox.url }).api.getCommission(id);
    expect(live.commission.paid_at).toBe(isApplied ? PAID_AT : null);
  });

  it('by 429 is sent again until it is let through', async () => {
    const { sandbox, received } = current();
    const id = await anUnpaidId();
    sandbox.setFaults({ shares: {}, exact: [{ kind: '429', times: 3 }] });
    const { api } = makeClient({ url: sandbox.url });
    expect((await api.putCommission(id, { paid_at: PAID_AT })).commission.paid_at).toBe(PAID_AT);
    expect(received()).toBe(4);
  });
});
