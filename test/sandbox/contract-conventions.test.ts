// api-contract.md: What the service does, Conventions, Authentication, Errors, Versioning.

import { describe, expect, it } from 'vitest';
import { errorBodySchema } from '../../src/contract/answer-bodies.ts';
import { createTestDatabase } from '../support/database.ts';
import { AUTHORIZATION, basic, runSandbox, SECRET } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool);
const found = await pool.query<{ id: string }>('select id from sandbox.commissions order by id limit 1');
const commissionId = found.rows[0]?.id ?? '';

const OPERATIONS = () =>
  [
    ['GET', `/v1/commissions/${commissionId}`],
    ['PUT', `/v1/commissions/${commissionId}`],
    ['GET', '/v1/referrals'],
    ['GET', '/v1/affiliates'],
  ] as const;

describe('What the service does', () => {
  it('a request with a Content-Encoding is refused with 415, and a payment in it changes nothing', async () => {
    const before = await sandbox.get(`/v1/commissions/${commissionId}`);
    const headers = { authorization: AUTHORIZATION, 'content-encoding': 'br, gzip' };
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    for (const answer of [
      await sandbox.send('GET', '/v1/affiliates', { headers }),
      await sandbox.send('PUT', `/v1/commissions/${commissionId}`, {
        headers: form,
        body: 'due_at=2030-01-01T00:00:00Z',
      }),
    ]) {
      expect(answer.status).toBe(415);
      expect(JSON.parse(answer.text)).toEqual({
        error: 'Content-Encoding br, gzip is not supported: send the body as it is',
      });
    }
    expect(await sandbox.get(`/v1/commissions/${commissionId}`)).toEqual(before);
    const stranger = await sandbox.send('GET', '/v1/affiliates', { headers: { 'content-encoding': 'gzip' } });
    expect(stranger.status).toBe(401);
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
      basic(`${SECRET}x:`),
      basic(''),
      basic(`:${SECRET}`),
      basic(`${SECRET}:password`),
      `Bearer ${SECRET}`,
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

  it('"All error bodies are JSON objects with a string field error", also where the contract is silent', async () => {
    const requests = [
      ['GET', '/'],
      ['GET', '/v1'],
      ['GET', '/v2/referrals'],
      ['GET', '/v1/commissions'],
      ['GET', '/v1/campaigns?limit=1'],
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
