// What each kind of fault looks like to a client, and whether the change behind it was applied.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FAULT_KINDS, type FaultKind, NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { createTestDatabase } from '../support/database.ts';
import { AUTHORIZATION, runSandbox, type TestSandbox } from './running-sandbox.ts';

let sandbox: TestSandbox;
let commissionId: string;

beforeAll(async () => {
  const { pool } = await createTestDatabase();
  sandbox = await runSandbox(pool, { rateLimit: { requests: 1_000, windowSeconds: 600 } });
});
afterAll(() => sandbox.close());

beforeEach(async () => {
  const { id } = await sandbox.program.insertReferral({ conversion_state: 'conversion' });
  commissionId = (await sandbox.program.insertSale(id)).commission.id;
});

const demand = (kind: FaultKind) => sandbox.setFaults({ shares: {}, exact: [{ kind }] });

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: { code?: unknown; name: string }) => (typeof error.code === 'string' ? error.code : error.name),
  );

/** Resolves when the newest request received is one that a fault has struck. */
async function untilStruck(): Promise<void> {
  const from = sandbox.requests.length;
  while (sandbox.requests.slice(from).every(({ fault }) => fault === null)) await new Promise(setImmediate);
}

describe('A list', () => {
  const list = () => sandbox.send('GET', '/v1/referrals');

  it('5xx: a server error with a JSON body', async () => {
    demand('5xx');
    const answer = await list();
    expect([500, 502, 503, 504]).toContain(answer.status);
    expect(JSON.parse(answer.text)).toEqual({ error: 'Something went wrong.' });
  });

  it('5xx: all four of them come', async () => {
    sandbox.setFaults({ shares: { '5xx': 1 }, exact: [] });
    const statuses = new Set<number>();
    for (let sent = 0; sent < 4; sent += 1) statuses.add((await list()).status);
    expect(statuses).toEqual(new Set([500, 502, 503, 504]));
  });

  it('429: without any of the headers', async () => {
    demand('429');
    const { status, headers, text } = await list();
    expect(status).toBe(429);
    expect(Object.keys(headers).filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
    expect(JSON.parse(text)).toEqual({ error: 'Too many requests.' });
  });

  it.each(['reset', 'reset-after'] as const)('%s: the connection is reset', async (kind) => {
    demand(kind);
    expect(await failure(list())).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  });

  it('stall: nothing comes, while the next request is served', async () => {
    demand('stall');
    const abort = new AbortController();
    const stalled = failure(sandbox.send('GET', '/v1/referrals', { signal: abort.signal }));
    await untilStruck();
    expect((await list()).status).toBe(200);
    abort.abort();
    expect(await stalled).toBe('AbortError');
  });

  it('cut: the right length is announced, and the connection ends midway', async () => {
    const whole = await list();
    demand('cut');
    const answer = await fetch(`${sandbox.url}/v1/referrals`, { headers: { authorization: AUTHORIZATION } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(whole.headers['content-length']);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it('truncated: 200 with half of the document, and its true length', async () => {
    const whole = await list();
    demand('truncated');
    const { status, text } = await list();
    expect(status).toBe(200);
    expect(whole.text.startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(1_000);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it('html: 200 with an HTML page', async () => {
    demand('html');
    const { status, headers, text } = await list();
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toMatch(/^<!doctype html>/);
  });

  it('no-envelope: 200 with the bare array', async () => {
    const whole = JSON.parse((await list()).text);
    demand('no-envelope');
    const { status, text } = await list();
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual(whole.data);
  });

  it('redirect: 302 to a path that would be seen in the memory of requests', async () => {
    demand('redirect');
    const { status, headers } = await list();
    expect(status).toBe(302);
    expect(headers['location']).toBe('/elsewhere');
    await sandbox.send('GET', '/elsewhere');
    expect(sandbox.requests.at(-1)?.url).toBe('/elsewhere');
  });
});

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
    await failure(put);
    sandbox.setFaults(NO_FAULTS);
    const { paid_at } = await sandbox.commission(commissionId);
    const isApplied = !/nothing was applied|before anything was applied/.test(meaning);
    expect(paid_at).toBe(isApplied ? '2026-05-04T00:00:00.000Z' : null);
  });

  it('no-envelope: 200 with JSON that is no commission', async () => {
    demand('no-envelope');
    expect(await sandbox.put(commissionId, 'paid_at=')).toEqual({ status: 200, body: { status: 'ok' } });
  });
});

describe('Faults and the rest', () => {
  it('the memory of requests names the fault, and no status where there was no answer', async () => {
    const from = sandbox.requests.length;
    sandbox.setFaults({
      shares: {},
      exact: [{ kind: '5xx' }, { kind: 'reset' }, { kind: 'html' }],
    });
    for (let sent = 0; sent < 4; sent += 1) await failure(sandbox.send('GET', '/v1/affiliates'));
    const seen = sandbox.requests.slice(from).map(({ fault, status }) => [fault, status]);
    expect(seen).toEqual([
      ['5xx', expect.any(Number)],
      ['reset', null],
      ['html', 200],
      [null, 200],
    ]);
  });

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
    const stalled = failure(other.send('GET', '/v1/referrals'));
    while (other.requests.length === 0) await new Promise(setImmediate);
    await other.close();
    expect(await stalled).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  });
});
