// What each kind of fault looks like to a client, and whether the change behind it was applied.

import { beforeEach, describe, expect, it } from 'vitest';
import { FAULT_KINDS, type FaultKind, NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { createTestDatabase } from '../support/database.ts';
import { AUTHORIZATION, runSandbox } from './running-sandbox.ts';

let commissionId: string;

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool, { rateLimit: { requests: 1_000, windowSeconds: 600 } });

beforeEach(async () => {
  const { id } = await sandbox.program.insertReferral({ conversion_state: 'conversion' });
  commissionId = (await sandbox.program.insertSale(id)).commission.id;
});

const demand = (kind: FaultKind) => sandbox.setFaults({ shares: {}, exact: [{ kind }] });

/** What a client sees of each. */
const SEEN: Readonly<Record<FaultKind, RegExp>> = {
  '5xx': /^50[0234] \{"error"/,
  '429': /^429 \{"error":"Too many requests\."\}$/,
  reset: /^(ECONNRESET|UND_ERR_SOCKET)$/,
  'reset-after': /^(ECONNRESET|UND_ERR_SOCKET)$/,
  stall: /^AbortError$/,
  cut: /^(ECONNRESET|UND_ERR_SOCKET|ABORT_ERR)$/,
  truncated: /^200 \{.*[^}]$/s,
  html: /^200 <!doctype html>/,
  'no-envelope': /^200 \{"status":"ok"\}$/,
  redirect: /^302 \{\}$/,
};

const outcome = (promise: Promise<{ status: number; text: string }>) =>
  promise.then(
    ({ status, text }) => `${status} ${text}`,
    (error: { code?: unknown; name: string }) => (typeof error.code === 'string' ? error.code : error.name),
  );

/** Resolves when the newest request received is one that a fault has struck. */
async function untilStruck(): Promise<void> {
  const from = sandbox.requests.length;
  while (sandbox.requests.slice(from).every(({ fault }) => fault === null)) await new Promise(setImmediate);
}

describe('A PUT', () => {
  it.each(Object.entries(FAULT_KINDS))('%s: %s', async (kind, meaning) => {
    demand(kind as FaultKind);
    const abort = new AbortController();
    const put = sandbox.send('PUT', `/v1/commissions/${commissionId}`, {
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'paid_at=2026-05-04T00:00:00Z',
      signal: abort.signal,
    });
    await untilStruck();
    if (kind === 'stall') abort.abort();
    expect(await outcome(put)).toMatch(SEEN[kind as FaultKind]);
    sandbox.setFaults(NO_FAULTS);
    const { paid_at } = await sandbox.commission(commissionId);
    const isApplied = !/nothing was applied|before anything was applied/.test(meaning);
    expect(paid_at).toBe(isApplied ? '2026-05-04T00:00:00.000Z' : null);
  });
});

describe('Faults and the rest', () => {
  it('a request refused for its secret or for the limit uses up no fault', async () => {
    demand('html');
    expect((await sandbox.send('GET', '/v1/affiliates', { headers: {} })).status).toBe(401);
    sandbox.setRateLimit({ requests: 1, windowSeconds: 600 });
    expect((await sandbox.send('GET', '/v1/affiliates')).status).toBe(429);
    sandbox.setRateLimit(null);
    expect((await sandbox.send('GET', '/v1/affiliates')).headers['content-type']).toContain('text/html');
  });

  it('close ends also the connections that stall', async () => {
    const { pool } = await createTestDatabase();
    const other = await runSandbox(pool, { faults: { shares: { stall: 1 }, exact: [] } });
    const stalled = outcome(other.send('GET', '/v1/referrals'));
    while (other.requests.length === 0) await new Promise(setImmediate);
    await other.close();
    expect(await stalled).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  });
});
