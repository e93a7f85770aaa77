// What log lines and errors say of people: no address that was looked for, and no quotation where none is wanted.

import { expect, test } from 'vitest';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { failureOf, makeClient } from './make-client.ts';
import { startRawProgram } from './raw-program.ts';
import { useSandbox } from './start-test-sandbox.ts';

const current = useSandbox();

test('the log does not say whose address a request looked for', async () => {
  const { api, lines } = makeClient({ url: current().sandbox.url });
  await api.list('affiliates', { page: 1, limit: 2, filters: { email: 'jane@example.com' } });
  expect(lines.join('')).toContain('email=…');
  expect(lines.join('')).not.toContain('jane');
});

test('nor who somebody is at the payment processor', async () => {
  const { api, lines } = makeClient({ url: current().sandbox.url });
  await api.list('referrals', { page: 1, limit: 2, filters: { stripe_customer_id: 'cus_jane' } });
  expect(lines.join('')).toContain('stripe_customer_id=…');
  expect(lines.join('')).not.toContain('jane');
});

test('an answer that names somebody who was forgotten is not quoted', async () => {
  const body = '{"error": "jane is not here"}';
  const proxy = await startAlteringProxy(current().sandbox.url, () => body);
  try {
    const namesForgotten = (text: string) => text.includes('jane');
    const { api, lines } = makeClient({ url: proxy.url, namesForgotten, attempts: { most: 2 } });
    const error = await failureOf(api.getCommission('00000000-0000-4000-8000-000000000000'));
    expect(`${error}${lines.join('')}`).not.toContain('jane');
    expect(String(error)).toContain('(404: what is not quoted: it names somebody who was forgotten)');
  } finally {
    await proxy.close();
  }
});

test('where a redirect leads is quoted, unless nothing is to be', async () => {
  const program = await startRawProgram((socket) =>
    socket.end('HTTP/1.1 302 Found\r\nlocation: https://crm.example.com/jane\r\ncontent-length: 0\r\n\r\n'),
  );
  for (const quotesAnswers of [true, false]) {
    const { api } = makeClient({ url: program.url, quotesAnswers });
    const error = await failureOf(api.list('affiliates', { page: 1, limit: 2 }));
    expect(String(error)).toContain('with a redirect (302) to');
    expect(String(error).includes('jane')).toBe(quotesAnswers);
  }
});

test.each([
  ['a refusal', '{"error": "jane is not here", "details": ["ask jane"]}', '/v1/commissions/none'],
  ['no JSON', '<p>jane</p>', '/v1/affiliates'],
  ['another shape', '{"jane": 1}', '/v1/affiliates'],
])('%s is quoted, unless nothing is to be', async (_, body, path) => {
  const proxy = await startAlteringProxy(current().sandbox.url, () => body);
  try {
    for (const quotesAnswers of [true, false]) {
      const { api, lines } = makeClient({ url: proxy.url, quotesAnswers, attempts: { most: 2 } });
      const error = await failureOf(
        path.endsWith('none')
          ? api.getCommission('00000000-0000-4000-8000-000000000000')
          : api.list('affiliates', { page: 1, limit: 2 }),
      );
      expect(`${error}${lines.join('')}`.includes('jane')).toBe(quotesAnswers);
    }
  } finally {
    await proxy.close();
  }
});
