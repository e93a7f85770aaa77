// The secret stays out of every error and log line, also where the program or something before it echoes it.

import { inspect } from 'node:util';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { failureOf, makeClient, SECRET } from './make-client.ts';
import { rawAnswer, startRawProgram } from './raw-program.ts';

const ID = '0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e';
const BASE64 = Buffer.from(`${SECRET}:`).toString('base64');
const SPELLINGS = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), BASE64];

/** Everything that anyone could print of the error: as a person sees it, as Node prints it, as the log writes it. */
function printed(error: unknown): string {
  const lines: string[] = [];
  pino({}, { write: (line: string) => lines.push(line) }).error({ err: error }, 'failed');
  return [inspect(error, { depth: 10, showHidden: true }), ...lines].join('\n');
}

function expectClean(text: string): void {
  for (const spelling of [...SPELLINGS, ...DISGUISES]) {
    expect(text).not.toContain(spelling);
    expect(text).not.toContain(JSON.stringify(spelling).slice(1, -1));
  }
}

const DISGUISES = [JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/'), encodeURIComponent(SECRET)];

const echo = (text: string) =>
  JSON.stringify({ error: `no such key ${text}`, details: [`key ${text} is wrong`] });
const filler = 'x'.repeat(150);
const ECHOES = [
  ...[
    '401 Unauthorized',
    '404 Not Found',
    '422 Unprocessable',
    '429 Too Many Requests',
    '503 Unavailable',
  ].map((status) => ({ status, body: echo(SECRET) })),
  { status: '400 Bad Request', body: `<html>Basic ${BASE64}</html>` },
  {
    status: '200 OK',
    body: `<html>authorization: Basic ${BASE64}, key ${encodeURIComponent(SECRET)}</html>`,
  },
  { status: '200 OK', body: echo(SECRET) },
  // As they go over the wire, and once more within the JSON.
  ...DISGUISES.flatMap((disguise) => [
    { status: '404 Not Found', body: `{"error":"no such key ${disguise}"}` },
    { status: '422 Unprocessable', body: echo(disguise) },
    { status: '200 OK', body: `<html>${disguise}</html>` },
  ]),
  // The cut of the excerpt falls into the secret: half of it must not stay either.
  { status: '200 OK', body: `${filler} ${SECRET}` },
  { status: '503 Unavailable', body: `${filler} ${SECRET}` },
  { status: '200 OK', body: `{"a": ${SECRET}` },
];

describe('the secret', () => {
  it.each(ECHOES)('is in no error or log line when $status echoes it: $body', async ({ status, body }) => {
    const program = await startRawProgram((socket) => socket.write(rawAnswer(status, body)));
    const { api, lines } = makeClient({ url: program.url });
    for (const call of [
      () => api.list('affiliates', { page: 1, limit: 1 }),
      () => api.getCommission(ID),
      () => api.putCommission(ID, { paid_at: null }),
    ]) {
      const text = printed(await failureOf(call()));
      expectClean(text);
      expect(text).not.toContain(SECRET.slice(0, 8));
    }
    expectClean(lines.join('\n'));
  });

  it('is in no error or log line when what answers is not HTTP at all', async () => {
    const program = await startRawProgram((socket) => socket.end(`${SECRET} Basic ${BASE64}\r\n\r\n`));
    const { api, lines } = makeClient({ url: program.url });
    expectClean(printed(await failureOf(api.getCommission(ID))));
    expectClean(printed(await failureOf(api.putCommission(ID, { paid_at: null }))));
    expectClean(lines.join('\n'));
  });
});
