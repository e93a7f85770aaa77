// The rate limit as a client meets it (contract, Rate limit).

import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool, { rateLimit: { requests: 5, windowSeconds: 600 } });

it('"Over it: 429 with RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset", for the whole account', async () => {
  const send = (method: 'GET' | 'PUT', path: string) => sandbox.send(method, path);
  const within = [
    await send('GET', '/v1/referrals'),
    await send('GET', '/v1/affiliates'),
    await send('GET', '/v1/commissions/none'),
    await send('PUT', '/v1/commissions/none'),
    await send('GET', '/v1/unknown'),
  ];
  expect(within.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404]);
  expect(within.map(({ headers }) => headers['ratelimit-limit'])).toEqual(['5', '5', '5', '5', '5']);
  expect(within.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['4', '3', '2', '1', '0']);

  for (const path of ['/v1/referrals', '/v1/affiliates', '/v1/commissions/none', '/v1/unknown']) {
    const { status, headers, text } = await send('GET', path);
    expect(status).toBe(429);
    expect(JSON.parse(text)).toEqual({ error: 'Rate limit exceeded.' });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['ratelimit-remaining']).toBe('0');
    expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(590);
    expect(Number(headers['ratelimit-reset'])).toBeLessThanOrEqual(600);
  }
});

it('a wrong secret is 401 also beyond the limit, takes nothing of it and says nothing of it', async () => {
  const { status, headers } = await sandbox.send('GET', '/v1/referrals', { headers: {} });
  expect(status).toBe(401);
  expect(headers).not.toHaveProperty('ratelimit-limit');
});
