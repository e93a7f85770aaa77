// Requests through a proxy: that they arrive, and that whether a PUT was sent is known as well as without one.

import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeError } from '../../src/base/describe-error.ts';
import { ApiUnreachable, WriteOutcomeUnknown } from '../../src/base/errors.ts';
import { makeCertificates } from '../support/certificates.ts';
import { type ProxyOptions, startConnectProxy } from '../support/connect-proxy.ts';
import { findFreePort } from '../support/redis.ts';
import { failureOf, makeClient, SECRET } from './make-client.ts';
import { COMMISSION, ID, PAY, rawAnswer, startRawProgram } from './raw-program.ts';

const LOGIN = 'clerk:proxy-password';

const trusted = makeCertificates();

beforeAll(() => {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(trusted.ca, 'utf8')]);
});

/** Returns a program behind TLS, a proxy, and a client that tries once, of which each attempt is recorded. */
async function setUp(options: ProxyOptions = {}, login = '', exceptions = '') {
  const proxy = await startConnectProxy(options);
  const program = await startRawProgram(
    (socket) => socket.write(rawAnswer('200 OK', COMMISSION)),
    trusted.server,
  );
  const url = proxy.url.replace('://', `://${login}`);
  const client = makeClient({
    url: program.url,
    proxy: { url, exceptions },
    attempts: { most: 1 },
    timeoutMs: 2000,
  });
  return {
    proxy,
    program,
    ...client,
    from: `no answer from ${program.url} (HTTPS_PROXY ${proxy.url}) after 1 attempt`,
  };
}

describe('a proxy', () => {
  test('carries reads and changes in a tunnel, and sees nothing of them', async () => {
    const { api, proxy, program } = await setUp();
    expect(await api.getCommission(ID)).toMatchObject({ commission: { id: ID } });
    expect(await api.putCommission(ID, PAY)).toMatchObject({ commission: { id: ID } });
    expect([...new Set(proxy.asked)]).toEqual([new URL(program.url).host]);
    expect(proxy.seen().length).toBeGreaterThan(0);
    expect(proxy.seen()).not.toContain(Buffer.from(`${SECRET}:`).toString('base64'));
    expect(proxy.seen()).not.toContain('/v1/commissions');
    // The program would have spoken HTTP/2 too.
    expect(program.requests.map((request) => request.split('\r\n')[0])).toEqual([
      `GET /v1/commissions/${ID} HTTP/1.1`,
      `PUT /v1/commissions/${ID} HTTP/1.1`,
    ]);
  });

  test('is not used for a program that NO_PROXY names', async () => {
    const { api, proxy } = await setUp({ fault: 'refuse' }, '', 'other.example, 127.0.0.1');
    await api.putCommission(ID, PAY);
    expect(proxy.asked).toEqual([]);
  });

  test('that wants a password has it from the address', async () => {
    const { api, proxy } = await setUp({ login: LOGIN }, `${LOGIN}@`);
    await api.getCommission(ID);
    expect(proxy.asked).toHaveLength(1);
  });
});

describe('a PUT through a proxy', () => {
  test.each<[what: string, options: ProxyOptions, words: string]>([
    ['refuses the tunnel', { fault: 'refuse' }, 'Proxy response (403) !== 200'],
    ['drops the tunnel before it is open', { fault: 'drop' }, 'Proxy Connection failed: other side closed'],
    ['never answers', { fault: 'hang' }, 'not complete within 2000 ms'],
    ['wants a password', { login: LOGIN }, 'Proxy response (407) !== 200'],
  ])('that %s was not sent, and may be tried again', async (_what, options, words) => {
    const { api, program, from } = await setUp(options);
    const error = await failureOf(api.putCommission(ID, PAY));
    expect(error).toBeInstanceOf(ApiUnreachable);
    expect(describeError(error)).toContain(`${from}: ${words}`);
    expect(program.requests).toEqual([]);
  });

  test('that refuses the password does not have it shown', async () => {
    const { api, lines } = await setUp({ login: LOGIN }, 'clerk:wrong-password@');
    const error = await failureOf(api.putCommission(ID, PAY));
    expect(describeError(error)).toContain('Proxy response (407)');
    const typed = Buffer.from('clerk:wrong-password').toString('base64');
    for (const text of [describeError(error), lines.join('')]) {
      expect(text).not.toContain('wrong-password');
      expect(text).not.toContain(typed);
    }
  });

  test('that is down was not sent', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { api } = makeClient({ url: 'https://program.test', proxy: { url, exceptions: '' } });
    const error = await failureOf(api.putCommission(ID, PAY));
    expect(error).toBeInstanceOf(ApiUnreachable);
    expect(describeError(error)).toContain(
      `from https://program.test (HTTPS_PROXY ${url}) after 5 attempts: connect ECONNREFUSED`,
    );
  });

  test('that breaks after the request went through may have been applied', async () => {
    const proxy = await startConnectProxy();
    const program = await startRawProgram(() => proxy.cut(), trusted.server);
    const { api } = makeClient({ url: program.url, proxy: { url: proxy.url, exceptions: '' } });
    const error = await failureOf(api.putCommission(ID, PAY));
    expect(error).toBeInstanceOf(WriteOutcomeUnknown);
    expect(describeError(error)).toContain(`(HTTPS_PROXY ${proxy.url})`);
    expect(program.requests).toHaveLength(1);
    expect(program.requests[0]).toContain('paid_at=');
  });
});
