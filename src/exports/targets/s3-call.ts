// One request to S3-compatible storage, with its retries, and the message of a failure.
//
// The storage's answer is never shown, because its errors repeat access keys and signatures. Its status and error code
// are enough.

import pRetry, { AbortError } from 'p-retry';
import { S3mini } from 's3mini';
import { describeUnreachable, errorCode, networkCode } from '../../base/describe-error.ts';
import { ExportTargetUnwritable } from '../../base/errors.ts';
import type { S3Access } from '../../config/process/s3-access.ts';

/** For a part over a slow line. */
const REQUEST_TIMEOUT_MS = 120_000;
/** After 0.5, 1, 2 and 4 seconds, or up to twice that: an overloaded storage answers 503, and expects retries. */
const RETRIES = { retries: 4, minTimeout: 500, factor: 2, randomize: true };

/** Returns the request's result. Throws: ExportTargetUnwritable; the signal's reason when aborted. */
export type S3Call = <T>(signal: AbortSignal, request: (s3: S3mini) => Promise<T>) => Promise<T>;

/** Returns the function that sends requests to the bucket; errors name `location`. */
export function makeS3Call(access: S3Access, bucket: string, location: string): S3Call {
  return async (signal, request) => {
    let answered: number | null = null;
    const s3 = openBucket(access, bucket, signal, (status) => {
      answered = status;
    });
    const attempt = async () => {
      try {
        return await request(s3);
      } catch (error) {
        throw mayPass(error) ? error : new AbortError(asError(error));
      }
    };
    try {
      return await pRetry(attempt, { ...RETRIES, signal, shouldRetry: () => !signal.aborted });
    } catch (error) {
      signal.throwIfAborted();
      throw new ExportTargetUnwritable(
        `cannot write to ${location} at ${access.endpoint}: ${explain(error, answered, access)}`,
      );
    }
  };
}

/** `onStatus` is called with null at the start of a request, and with the status of its answer. */
function openBucket(
  access: S3Access,
  bucket: string,
  signal: AbortSignal,
  onStatus: (status: number | null) => void,
): S3mini {
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  return new S3mini({
    accessKeyId,
    secretAccessKey,
    region,
    endpoint: `${endpoint}/${bucket}`,
    async fetch(input, init) {
      onStatus(null);
      const answer = await fetch(input, {
        ...init,
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      });
      onStatus(answer.status);
      return answer;
    },
  });
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = statusOf(error);
  return status === null || status >= 500 || status === 429 || status === 408;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the answer of the storage was not understood');
}

/** Returns the status of the answer; null if there was none. */
export function statusOf(error: unknown): number | null {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : null;
}

function explain(error: unknown, answered: number | null, { region }: S3Access): string {
  const status = statusOf(error) ?? answered;
  if (status === null || isNetworkError(error)) {
    return `it ${describeUnreachable(networkCode(error))}: check AWS_ENDPOINT_URL and AWS_REGION (${region})`;
  }
  const code = errorCode(error);
  const known = /^[A-Za-z]{1,64}$/.test(code) && code !== 'Unknown' ? ` ${code}` : '';
  const said =
    status >= 300 ? known : ` with ${known === '' ? 'a body that is not understood' : `the error${known}`}`;
  return `it answered ${status}${said}`;
}

function isNetworkError(error: unknown): boolean {
  return error instanceof Error && errorCode(error.cause) !== '';
}
