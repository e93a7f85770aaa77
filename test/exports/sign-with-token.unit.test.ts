// s3mini signs extra headers of the few requests that take some: with a token among them, both must sign alike.
// (s3rver, which the other tests export to, checks no signature of this version.)

import { S3mini } from 's3mini';
import { expect, test } from 'vitest';
import { signWithToken } from '../../src/exports/targets/sign-with-token.ts';

const TOKEN = 'FwoGZXIvYXdzEBYaD/session+token==';
const ACCESS = {
  endpoint: 'https://storage.example:9000',
  region: 'eu-central-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: TOKEN,
};
const KEY = 'a b/export=20261122T053000123456Z/day=2026-11-22/reférrals.parquet';
const EXTRA = { 'x-amz-security-token': TOKEN };

test.each<[string, (s3: S3mini) => Promise<unknown>]>([
  ['a put', (s3) => s3.putObject(KEY, Buffer.from('x'), 'text/csv', undefined, EXTRA)],
  ['the start of an upload', (s3) => s3.getMultipartUploadId(KEY, 'text/csv', undefined, EXTRA)],
  ['a part', (s3) => s3.uploadPart(KEY, 'i/d+', Buffer.from('x'), 2, {}, undefined, EXTRA)],
])('%s with a token is signed as s3mini would sign it', async (_, request) => {
  const sent: [URL, RequestInit][] = [];
  const s3 = new S3mini({
    ...ACCESS,
    endpoint: `${ACCESS.endpoint}/bucket`,
    fetch: async (url, init = {}) => {
      sent.push([new URL(String(url)), init]);
      return new Response(null, { status: 403 });
    },
  });
  await request(s3).catch(() => undefined);
  expect(sent).toHaveLength(1);
  for (const [url, init] of sent) {
    const theirs = Object.fromEntries(new Headers(init.headers));
    const { authorization, 'x-amz-security-token': _token, ...without } = theirs;
    expect(authorization).toContain(';x-amz-security-token,');
    expect(signWithToken(url, { ...init, headers: without }, ACCESS, TOKEN)).toEqual(theirs);
  }
});
