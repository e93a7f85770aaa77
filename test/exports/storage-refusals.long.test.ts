// What becomes of an export to a storage that refuses something: nothing of it stays, and the message says what to
// do, without a secret.

import { expect, test } from 'vitest';
import { BUCKET } from '../support/object-storage.ts';
import { runCli } from '../support/run-cli.ts';
import { useExporting } from './exporting.ts';

const given = useExporting();
const ARGS = ['--format', 'ndjson', '-o', `s3://${BUCKET}/y`];

// A put, an upload in parts, and what removes it where its end is refused.
test.each([
  ['keeps the export', 0, null],
  ['is rid of it', 1, /manifest\.json/],
  ['is rid of its parts', 1, /partNumber=2/],
])(
  'a storage that asks for a session token gets it, signed, with every request, and %s',
  async (_, code, refused) => {
    const { storage, environment } = given();
    const token = 'FwoGZXIvYXdzEBYaD/session+token==';
    const before = await storage.list();
    const without: unknown[] = [];
    storage.intercept = ({ headers, method, url = '' }, response) => {
      const isSigned = headers.authorization?.includes(';x-amz-security-token,') === true;
      if (headers['x-amz-security-token'] !== token || !isSigned) without.push([method, url]);
      if (method !== 'PUT' || refused?.test(url) !== true) return false;
      response.writeHead(403).end();
      return true;
    };
    const ran = await runCli(['export', 'mirror.referrals', ...ARGS], {
      ...environment,
      AWS_SESSION_TOKEN: token,
    });
    expect(ran.code, ran.stderr).toBe(code);
    expect(ran.stderr).not.toContain(token);
    expect(without).toEqual([]);
    storage.intercept = null;
    expect(await storage.list()).toHaveLength(before.length + (code === 0 ? 2 : 0));
    expect(storage.countUploads()).toBe(0);
  },
);

test.each(['ExpiredToken', 'InvalidToken', 'InvalidAccessKeyId'])(
  'the %s of a storage is named',
  async (error) => {
    const { storage, run } = given();
    storage.intercept = (_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end(`<Error><Code>${error}</Code></Error>`);
      return true;
    };
    const { code, stderr } = await run(...ARGS);
    expect(stderr).toContain(`it answered 403 ${error}\n`);
    expect(code).toBe(1);
  },
);

// The second one says so in the body of a 200 alone.
test.each([
  ['answers 503', 'PUT', 503],
  ['does not put the parts together', 'POST', 200],
])('a storage that %s is asked again', async (_, method, status) => {
  const { storage, run } = given();
  const before = await storage.list();
  let refusals = 0;
  storage.intercept = (request, response) => {
    const isCompletion = request.url?.includes('uploadId') === true;
    if (request.method !== method || !isCompletion || refusals > 0) return false;
    refusals += 1;
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end('<Error><Code>InternalError</Code></Error>');
    return true;
  };
  expect((await run(...ARGS)).code).toBe(0);
  expect(refusals).toBe(1);
  expect(await storage.list()).toHaveLength(before.length + 2);
});

test.each([
  ['<?xml version="1.0"?> <Error><Code>AccessDenied</Code></Error>', 'with the error AccessDenied'],
  ['<html><body>busy</body></html>', 'with a body that is not understood'],
])('a storage that answers the end of an upload with 200 and %j is quoted', async (body, words) => {
  const { storage, run } = given();
  const before = await storage.list();
  storage.intercept = ({ method, url = '' }, response) => {
    if (method !== 'POST' || !url.includes('uploadId=')) return false;
    response.writeHead(200, { 'content-type': 'application/xml' }).end(body);
    return true;
  };
  const { code, stderr } = await run(...ARGS);
  expect(stderr).toContain(`: it answered 200 ${words}`);
  expect(code).toBe(1);
  expect(await storage.list()).toEqual(before);
  expect(storage.countUploads()).toBe(0);
});

test.each([
  ['a part', /partNumber=2/],
  ['the manifest', /manifest\.json/],
])('a storage that refuses %s keeps nothing of the export', async (_, url) => {
  const { storage, run } = given();
  const before = await storage.list();
  storage.intercept = (request, response) => {
    if (request.method !== 'PUT' || !url.test(request.url ?? '')) return false;
    response.writeHead(403).end();
    return true;
  };
  const { code, stderr } = await run(...ARGS);
  expect(stderr).toContain('it answered 403');
  expect(code).toBe(1);
  expect(await storage.list()).toEqual(before);
  expect(storage.countUploads()).toBe(0);
});
