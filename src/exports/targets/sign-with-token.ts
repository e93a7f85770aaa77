// Signs a request to the storage with a temporary access key, whose session token goes with every request: s3mini signs
// none, and takes headers of ours for some requests only. Everything else of its signature stays as it was.
// Source: Amazon S3, Signature Version 4, "Create a signed AWS API request".

import { createHash, createHmac } from 'node:crypto';
import type { S3Access } from '../../config/s3-access.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** What is not signed; the first is the signature itself. */
const UNSIGNED = ['authorization', 'content-length', 'content-type'];

/** Returns the headers of the request that s3mini has signed, with the token, and signed with it. */
export function signWithToken(
  url: URL,
  request: RequestInit,
  { region, accessKeyId, secretAccessKey }: S3Access,
  token: string,
): Record<string, string> {
  const headers: Readonly<Record<string, string>> = Object.fromEntries(new Headers(request.headers));
  const sent = { ...headers, 'x-amz-security-token': token };
  const signed = Object.entries<string>(sent)
    .filter(([name]) => !UNSIGNED.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const lines = signed.map(([name, value]) => `${name}:${value.trim()}\n`).join('');
  const time = headers['x-amz-date'] ?? '';
  // s3mini has escaped the path and sorted the query already.
  const asked = [
    request.method,
    url.pathname,
    url.search.slice(1),
    lines,
    names,
    headers['x-amz-content-sha256'],
  ];
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const text = [ALGORITHM, time, scope.join('/'), digest(asked.join('\n'))].join('\n');
  const key = scope.reduce<string | Buffer>((before, part) => sign(before, part), `AWS4${secretAccessKey}`);
  const signature = sign(key, text).toString('hex');
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function sign(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
