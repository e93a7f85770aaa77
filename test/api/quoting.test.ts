// What log lines and errors say of people: no address that was looked for, and nothing that the API answered.

import { expect, test } from 'vitest';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { failureOf, makeClient } from './make-client.ts';
import { useSandbox } from './start-test-sandbox.ts';

const current = useSandbox();

test('the log does not say whose address a request looked for', async () => {
  const { api, lines } = makeClient({ url: current().sandbox.url });
  await api.list('affiliates', { page: 1, limit: 2, filters: { email: 'jane@example.com' } });
  expect(lines.join('')).toContain('email=…');
  expect(lines.join('')).not.toContain('jane');
});

test.each([
  ['a refusal', '{"error": "jane is not here", "details": ["ask jane"]}', '/v1/commissions/none', '(404)'],
  ['no JSON', '<p>jane</p>', '/v1/affiliates', 'expected JSON, got a web page'],
  ['another shape', '{"jane": 1}', '/v1/affiliates', 'got other JSON'],
  ['JSON that is cut off', '{"jane', '/v1/affiliates', 'expected JSON, got no JSON'],
])('%s is described, and not quoted', async (_, body, path, described) => {
  const proxy = await startAlteringProxy(current().sandbox.url, () => body);
  try {
    const { api, lines } = makeClient({ url: proxy.url, attempts: { most: 2 } });
    const error = await failureOf(
      path.endsWith('none')
        ? api.getCommission('00000000-0000-4000-8000-000000000000')
        : api.list('affiliates', { page: 1, limit: 2 }),
    );
    expect(`${error}${lines.join('')}`).not.toContain('jane');
    expect(String(error)).toContain(described);
  } finally {
    await proxy.close();
  }
});

test('what the API says in its own form is in the details of the error, for the refusal of a payment', async () => {
  const body = '{"error": "jane is not here", "details": ["ask jane"]}';
  const proxy = await startAlteringProxy(current().sandbox.url, () => body);
  try {
    const { api } = makeClient({ url: proxy.url });
    await expect(api.getCommission('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({
      details: ['jane is not here', 'ask jane'],
    });
  } finally {
    await proxy.close();
  }
});
