// What becomes of an export to a storage that refuses something: it asks again, or nothing of it stays and the message
// says why.

import { expect, test } from 'vitest';
import { BUCKET } from '../support/object-storage.ts';
import { useExporting } from './exporting.ts';

const given = useExporting();
const ERROR = '<?xml version="1.0"?> <Error><Code>InternalError</Code></Error>';
const DENIED = ERROR.replace('InternalError', 'AccessDenied');

test.each([
  ['503 once', 'PUT', 503, ERROR, null],
  ['an error in the body of a 200 once', 'POST', 200, ERROR, null],
  ['a denial in the body of a 200', 'POST', 200, DENIED, 'with the error AccessDenied'],
  ['a page in a 200', 'POST', 200, '<html></html>', 'with a body that is not understood'],
])('a storage that answers an upload with %s', async (_, method, status, body, words) => {
  const { storage, run } = given();
  const before = await storage.list();
  let refusals = 0;
  storage.intercept = (request, response) => {
    const isOfUpload = request.url?.includes('uploadId=') === true;
    if (request.method !== method || !isOfUpload || (words === null && refusals > 0)) return false;
    refusals += 1;
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
    return true;
  };
  const { code, stderr } = await run('--format', 'ndjson', '-o', `s3://${BUCKET}/y`);
  expect(refusals).toBeGreaterThan(0);
  expect(code).toBe(words === null ? 0 : 1);
  if (words !== null) expect(stderr).toContain(`: it answered 200 ${words}`);
  expect(await storage.list()).toHaveLength(before.length + (words === null ? 2 : 0));
  expect(storage.countUploads()).toBe(0);
});
