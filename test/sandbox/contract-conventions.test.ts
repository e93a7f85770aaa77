// api-contract.md: What the service does, Conventions, Authentication, Errors, Versioning.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorBodySchema } from '../../src/contract/answer-bodies.ts';
import { createTestDatabase } from '../support/database.ts';
import { AUTHORIZATION, basic, runSandbox, SECRET, type TestSandbox } from './running-sandbox.ts';

let sandbox: TestSandbox;
let commissionId: string;

beforeAll(async () => {
  const { pool } = await createTestDatabase();
  sandbox = await runSandbox(pool);
  const found = await pool.query<{ id: string }>('select id from sandbox.commissions order by id limit 1');
  commissionId = found.rows[0]?.id ?? '';
});
afterAll(() => sandbox.close());

const OPERATIONS = () =>
  [
    ['GET', `/v1/commissions/${commissionId}`],
    ['PUT', `/v1/commissions/${commissionId}`],
    ['GET', '/v1/referrals'],
    ['GET', '/v1/affiliates'],
  ] as const;

describe('What the service does', () => {
  it('"JSON-encoded responses": every operation answers application/json', async () => {
    for (const [method, path] of OPERATIONS()) {
      const answer = await sandbox.send(method, path);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(() => JSON.parse(answer.text)).not.toThrow();
    }
  });

  it('"form-encoded request bodies": a JSON body is refused with 415 and an error', async () => {
    const answer = await sandbox.send('PUT', `/v1/commissions/${commissionId}`, {
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: '{"paid_at":""}',
    });
    expect(answer.status).toBe(415);
    expect(errorBodySchema.parse(JSON.parse(answer.text)).error).toContain('application/json');
  });

  it('a request with a Content-Encoding is refused with 415, and a payment in it changes nothing', async () => {
    const before = await sandbox.get(`/v1/commissions/${commissionId}`);
    for (const encoding of ['gzip', 'identity', 'br, gzip']) {
      for (const [method, path] of OPERATIONS()) {
        const answer = await sandbox.send(method, path, {
          headers: {
            authorization: AUTHORIZATION,
            'content-encoding': encoding,
            ...(method === 'PUT' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
          },
          ...(method === 'PUT' ? { body: 'due_at=2030-01-01T00:00:00Z' } : {}),
        });
        expect(answer.status, `${method} ${path}`).toBe(415);
        expect(JSON.parse(answer.text)).toEqual({
          error: `Content-Encoding ${encoding} is not supported: send the body as it is`,
        });
      }
    }
    expect(await sandbox.get(`/v1/commissions/${commissionId}`)).toEqual(before);
    const stranger = await sandbox.send('GET', '/v1/affiliates', { headers: { 'content-encoding': 'gzip' } });
    expect(stranger.status).toBe(401);
  });

  it('"identified by a UUID string" and "every date and time is an ISO 8601 formatted string"', async () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
    const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
    let times = 0;
    const walk = (value: unknown, parent: string) => {
      if (Array.isArray(value)) for (const item of value) walk(item, parent);
      else if (typeof value === 'object' && value !== null) {
        for (const [key, inner] of Object.entries(value)) {
          if (key === 'id' && parent !== 'customer') expect(inner).toMatch(uuid);
          if (key.endsWith('_at') && inner !== null) {
            times += 1;
            expect(inner).toMatch(time);
          }
          walk(inner, key);
        }
      }
    };
    for (const [, path] of OPERATIONS()) walk(await sandbox.get(path), '');
    expect(times).toBeGreaterThan(100);
  });

  it('"Responses carry the standard Date header" (Answers)', async () => {
    const asked = Date.now();
    const answer = await sandbox.send('GET', '/v1/referrals?limit=1');
    const date = Date.parse(String(answer.headers['date']));
    // Whole seconds, and up to one of them old.
    expect(date).toBeGreaterThan(asked - 2_000);
    expect(date).toBeLessThanOrEqual(Date.now());
  });

  it('"No request id, no ETag" (Answers)', async () => {
    const { headers } = await sandbox.send('GET', '/v1/referrals?limit=1');
    expect(Object.keys(headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
    ]);
  });
});

describe('Authentication', () => {
  it('2. the secret is the user name; the password is empty or omitted', async () => {
    for (const credentials of [`${SECRET}:`, SECRET]) {
      const answer = await sandbox.send('GET', '/v1/affiliates?limit=1', {
        headers: { authorization: basic(credentials) },
      });
      expect(answer.status).toBe(200);
    }
  });

  it('1. and 3. missing or invalid credentials give 401 with a JSON error body, on every operation', async () => {
    const wrong = [
      undefined,
      basic('wrong:'),
      basic(`${SECRET}x:`),
      basic(SECRET.slice(1)),
      basic(''),
      basic(`:${SECRET}`),
      basic(`${SECRET}:password`),
      `Bearer ${SECRET}`,
      `Basic ${SECRET}`,
      'Basic',
      'Basic !!!',
    ];
    for (const [method, path] of OPERATIONS()) {
      for (const authorization of wrong) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await sandbox.send(method, path, { headers });
        expect(answer.status, `${method} ${path} with ${authorization}`).toBe(401);
        expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
        expect(JSON.parse(answer.text)).toEqual({ error: 'Invalid API Secret.' });
        expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
      }
    }
  });

  it('an unknown route answers 401 before it answers 404', async () => {
    const answer = await sandbox.send('GET', '/v1/nothing', { headers: {} });
    expect(answer.status).toBe(401);
  });

  it('a PUT with a wrong secret changes nothing', async () => {
    const before = await sandbox.get(`/v1/commissions/${commissionId}`);
    await sandbox.send('PUT', `/v1/commissions/${commissionId}`, {
      headers: {
        authorization: basic('wrong:'),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'due_at=2030-01-01T00:00:00Z',
    });
    expect(await sandbox.get(`/v1/commissions/${commissionId}`)).toEqual(before);
  });
});

describe('Errors', () => {
  it('404 "names the kind of object, followed by the requested identifier"', async () => {
    const ids = [
      '00000000-0000-4000-8000-000000000000',
      'not-a-uuid',
      commissionId.toUpperCase(),
      'x'.repeat(2_000),
      'a b',
    ];
    for (const method of ['GET', 'PUT'] as const) {
      for (const id of ids) {
        const answer = await sandbox.send(method, `/v1/commissions/${encodeURIComponent(id)}`);
        expect(answer.status, id).toBe(404);
        expect(JSON.parse(answer.text)).toEqual({ error: `Commission not found: ${id}` });
      }
    }
  });

  it('an id that no text column can hold is not found either', async () => {
    const answer = await sandbox.send('GET', '/v1/commissions/a%00b');
    expect(answer.status).toBe(404);
  });

  it('"All error bodies are JSON objects with a string field error", also where the contract is silent', async () => {
    const requests = [
      ['GET', '/'],
      ['GET', '/v1'],
      ['GET', '/v2/referrals'],
      ['GET', '/v1/commissions'],
      ['GET', `/v1/affiliates/${commissionId}`],
      ['POST', '/v1/affiliates'],
      ['DELETE', `/v1/commissions/${commissionId}`],
      ['GET', '/v1/commissions/%ZZ'],
    ] as const;
    for (const [method, path] of requests) {
      const answer = await sandbox.send(method, path);
      expect(answer.status, `${method} ${path}`).toBe(404);
      expect(errorBodySchema.parse(JSON.parse(answer.text)).error).toMatch(/not found/i);
    }
  });
});

describe('The memory of requests', () => {
  it('holds method, address, status and the moment of every request, in order', async () => {
    const from = sandbox.requests.length;
    const startedAt = Date.now();
    await sandbox.send('GET', '/v1/referrals?limit=1');
    await sandbox.send('PUT', '/v1/commissions/none');
    await sandbox.send('GET', '/v1/affiliates', { headers: {} });
    const seen = sandbox.requests.slice(from);
    expect(seen.map(({ method, url, status, fault }) => [method, url, status, fault])).toEqual([
      ['GET', '/v1/referrals?limit=1', 200, null],
      ['PUT', '/v1/commissions/none', 404, null],
      ['GET', '/v1/affiliates', 401, null],
    ]);
    for (const { receivedAt } of seen) {
      // Two clocks, which may be a little apart.
      expect(receivedAt).toBeGreaterThan(startedAt - 1_000);
      expect(receivedAt).toBeLessThan(Date.now() + 1_000);
    }
    expect(JSON.stringify(sandbox.requests)).not.toContain(SECRET);
  });
});
