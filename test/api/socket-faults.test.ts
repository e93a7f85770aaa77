// Faults that the sandbox cannot make: endless and slow bodies, bytes that are not UTF-8, connections never made.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeError } from '../../src/base/describe-error.ts';
import {
  ApiUnauthorized,
  ApiUnreachable,
  ContractViolation,
  WriteOutcomeUnknown,
} from '../../src/base/errors.ts';
import { failureOf, makeClient, SECRET } from './make-client.ts';
import { COMMISSION, ID, PAY, rawAnswer, startRawProgram } from './raw-program.ts';

const FIRST_PAGE = { page: 1, limit: 100 };
const ONCE = { most: 1 };

describe('a body', () => {
  it('that never ends is cut off at the size cap, and its connection with it', async () => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const program = await startRawProgram((socket) => {
      socket.on('close', () => closed.resolve());
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const pour = () => {
        while (!socket.destroyed) {
          sent += chunk.length;
          if (!socket.write(Buffer.concat([Buffer.from('100000\r\n'), chunk, Buffer.from('\r\n')]))) break;
        }
      };
      socket.on('drain', pour);
      pour();
    });
    const { api } = makeClient({ url: program.url, attempts: ONCE });
    const error = await failureOf(api.list('affiliates', FIRST_PAGE));
    expect(error).toBeInstanceOf(ContractViolation);
    expect(describeError(error)).toContain('a body of more than 16777216 bytes');
    await closed.promise;
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('that comes too slowly is cut off when the time for the whole answer is up', async () => {
    const program = await startRawProgram((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{');
      const drip = setInterval(() => socket.write(' '), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const { api, permits } = makeClient({ url: program.url, timeoutMs: 200, attempts: ONCE });
    const error = await failureOf(api.list('affiliates', FIRST_PAGE));
    expect(error).toBeInstanceOf(ApiUnreachable);
    expect(describeError(error)).toBe(
      `no whole answer from ${program.url} after 1 attempt: not complete within 200 ms`,
    );
    expect(permits.returned).toHaveLength(1);
  });

  it('that is not UTF-8 is refused instead of stored damaged', async () => {
    const program = await startRawProgram((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n');
      socket.write(Buffer.from('{"a":"\xe9 "}', 'latin1'));
    });
    const error = await failureOf(
      makeClient({ url: program.url, attempts: ONCE }).api.list('affiliates', FIRST_PAGE),
    );
    expect(error).toBeInstanceOf(ContractViolation);
    expect(describeError(error)).toContain('expected JSON, got bytes that are no UTF-8');
  });

  it('that breaks off does not hide what the status said', async () => {
    const statuses = ['401 Unauthorized', '429 Too Many Requests', '404 Not Found'];
    const program = await startRawProgram((socket, number) => {
      socket.end(`HTTP/1.1 ${statuses[number - 1]}\r\ncontent-length: 50\r\nretry-after: 7\r\n\r\n{"err`);
    });
    const { api, permits } = makeClient({ url: program.url, attempts: { most: 1, mostThrottled: 1 } });
    expect(await failureOf(api.putCommission(ID, PAY))).toBeInstanceOf(ApiUnauthorized);
    expect(await failureOf(api.putCommission(ID, PAY))).toMatchObject({
      name: 'ApiThrottled',
      retryAfterMs: 7000,
    });
    expect(await failureOf(api.putCommission(ID, PAY))).toMatchObject({ name: 'ApiRejected', status: 404 });
    expect(permits.returned[1]).toMatchObject({ throttled: true, resetMs: 7000 });
  });
});

describe('an answer', () => {
  it('without a body, without content, or with another commission is not what was asked for', async () => {
    const other = COMMISSION.replace(ID, '11111111-3f9c-4a58-9b7a-0d3f3b1c2d4e');
    const answers = [rawAnswer('200 OK', ''), 'HTTP/1.1 204 No Content\r\n\r\n', rawAnswer('200 OK', other)];
    const program = await startRawProgram((socket, number) => socket.write(answers[number - 1] ?? ''));
    const { api } = makeClient({ url: program.url, attempts: ONCE });
    for (const expected of [
      'expected JSON, got an empty body',
      'expected JSON, got an empty body',
      `expected the commission ${ID}, got other JSON`,
    ]) {
      const error = await failureOf(api.getCommission(ID));
      expect(error).toBeInstanceOf(ContractViolation);
      expect(describeError(error)).toContain(expected);
    }
  });

  const page = '<!doctype html><h1>Welcome</h1>';
  const gone = JSON.stringify({ error: 'Not Found' });

  it.each([
    ['a page, says', true, rawAnswer('200 OK', page), 'list'],
    ['a page that is missing, says', true, rawAnswer('404 Not Found', page), 'getCommission'],
    ['no list, says', true, rawAnswer('404 Not Found', gone), 'list'],
    ['half a list, does not say', false, rawAnswer('200 OK', '{"pagination":{"previ'), 'list'],
    ['no commission, does not say', false, rawAnswer('404 Not Found', gone), 'getCommission'],
  ] as const)('of %s to check the address', async (_, isSaid, answer, method) => {
    const program = await startRawProgram((socket) => socket.write(answer));
    const { api } = makeClient({ url: program.url, attempts: ONCE });
    const call = method === 'list' ? api.list('affiliates', FIRST_PAGE) : api.getCommission(ID);
    expect(describeError(await failureOf(call)).endsWith(': check AFFILIATE_API_URL')).toBe(isSaid);
  });
});

describe('a connection', () => {
  it('that is refused names the address and what was tried, and lets a PUT be tried again', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const { api, permits, events } = makeClient({ url: `http://127.0.0.1:${port}` });
    const expected = `no answer from http://127.0.0.1:${port} after 5 attempts: connect ECONNREFUSED 127.0.0.1:${port}: check AFFILIATE_API_URL`;
    for (const call of [() => api.list('affiliates', FIRST_PAGE), () => api.putCommission(ID, PAY)]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(ApiUnreachable);
      expect(describeError(error)).toBe(expected);
    }
    expect(permits.granted()).toBe(10);
    expect(permits.unused(), 'what was not sent counts against no limit').toBe(10);
    expect(events.map(({ status }) => status)).toEqual(Array(10).fill(null));
  });

  it('that is encrypted to what speaks no TLS says so in plain words, without those of OpenSSL', async () => {
    // As a server of HTTP answers what is none.
    const server = createServer((socket) =>
      socket.once('data', () => socket.end(rawAnswer('400 Bad Request', ''))),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { api } = makeClient({ url: `https://127.0.0.1:${port}`, attempts: ONCE });
    expect(describeError(await failureOf(api.list('affiliates', FIRST_PAGE)))).toMatch(
      /^no answer from https:\S+ after 1 attempt: the server does not speak TLS, but the address asks for it: check AFFILIATE_API_URL$/,
    );
  });

  it.each(['getCommission', 'putCommission'] as const)(
    'that is never made is given up in time, and %s has sent nothing',
    async (method) => {
      // A server that accepts the connection and never says a word of TLS.
      const greeted = Promise.withResolvers<void>();
      const server = createServer((socket) => {
        socket.on('error', () => socket.destroy());
        socket.once('data', () => greeted.resolve());
        onTestFinished(() => {
          socket.destroy();
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => {
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const url = `https://127.0.0.1:${port}`;
      const { api } = makeClient({ url, timeoutMs: 150, attempts: ONCE });
      const error = await failureOf(api[method](ID, PAY));
      expect(error).toBeInstanceOf(ApiUnreachable);
      expect(describeError(error)).toBe(`no answer from ${url} after 1 attempt: not complete within 150 ms`);

      const controller = new AbortController();
      const patient = makeClient({ url, timeoutMs: 20_000 });
      const aborted = failureOf(patient.api.getCommission(ID, { signal: controller.signal }));
      await greeted.promise;
      controller.abort('stop');
      expect(await aborted).toBe('stop');
    },
  );
});

describe('a PUT', () => {
  it('is sent form-encoded, authenticated, and is never sent twice by the transport', async () => {
    const program = await startRawProgram((socket) => socket.destroy());
    const { api } = makeClient({ url: `${program.url}/base` });
    const error = await failureOf(api.putCommission(ID, { paid_at: null, due_at: '2026-03-01T12:00:00Z' }));
    expect(error).toBeInstanceOf(WriteOutcomeUnknown);
    expect(program.requests).toHaveLength(1);
    const [head = '', body] = (program.requests[0] ?? '').split('\r\n\r\n');
    const lines = head.toLowerCase().split('\r\n');
    expect(head.split('\r\n')[0]).toBe(`PUT /base/v1/commissions/${ID} HTTP/1.1`);
    expect(body).toBe('paid_at=&due_at=2026-03-01T12%3A00%3A00Z');
    expect(lines).toContain('content-type: application/x-www-form-urlencoded');
    expect(lines).toContain('accept: application/json');
    expect(lines).toContain('user-agent: affiliate-mirror');
    expect(head).toContain(`Basic ${Buffer.from(`${SECRET}:`).toString('base64')}`);
  });

  it('on a kept connection that the program closes meanwhile is of unknown outcome', async () => {
    const program = await startRawProgram((socket, number) => {
      if (number === 1) socket.write(rawAnswer('200 OK', COMMISSION));
      else socket.destroy();
    });
    const { api } = makeClient({ url: program.url });
    await api.getCommission(ID);
    expect(await failureOf(api.putCommission(ID, PAY))).toBeInstanceOf(WriteOutcomeUnknown);
    expect(program.requests).toHaveLength(2);
  });

  it('whose permit cannot be returned is of unknown outcome too, unless it was refused', async () => {
    const gone = new Error('the budget’s database is gone');
    const takePermit = async () => ({
      grantedAt: '2026-03-01T12:00:00Z',
      isUsable: () => true,
      returnAnswered: async () => {
        throw gone;
      },
      returnUnused: async () => {},
    });
    const answers = [
      rawAnswer('200 OK', COMMISSION),
      rawAnswer('422 No', '{"error":"no"}'),
      rawAnswer('303 See Other', ''),
    ];
    const program = await startRawProgram((socket, number) =>
      socket.write(answers[number - 1] ?? rawAnswer('200 OK', COMMISSION)),
    );
    const { api } = makeClient({ url: program.url }, takePermit);
    const unknown = { name: 'WriteOutcomeUnknown', cause: gone };
    expect(await failureOf(api.putCommission(ID, PAY))).toMatchObject(unknown);
    expect(await failureOf(api.putCommission(ID, PAY))).toBe(gone);
    expect(await failureOf(api.putCommission(ID, PAY))).toMatchObject(unknown);
    expect(await failureOf(api.getCommission(ID))).toBe(gone);
  });
});
