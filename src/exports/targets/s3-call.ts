// One request to S3-compatible storage, with its retries, and what is said where it fails.
//
// What the storage answers is never shown: its errors echo access keys and signatures. Its status and its own code of
// the error say enough.

import pRetry, { AbortError } from 'p-retry';
import { S3mini } from 's3mini';
import type { S3Access } from '../../config/s3-access.ts';
import { errorCode } from '../../describe-error.ts';
import { ExportTargetUnwritable } from '../../errors.ts';
import { signWithToken } from './sign-with-token.ts';

/** Longest wait for one answer: a part over a slow line. */
const REQUEST_TIMEOUT_MS = 120_000;
/** After 0.5, 1, 2 and 4 seconds, or up to twice that: a storage that is overloaded says 503, and expects it. */
const RETRIES = { retries: 4, minTimeout: 500, factor: 2, randomize: true };

/** Returns what the request returns. Throws: ExportTargetUnwritable; the signal's reason when aborted. */
export type S3Call = <T>(signal: AbortSignal, request: (s3: S3mini) => Promise<T>) => Promise<T>;

/** Returns the function that sends requests to the bucket; `location` is what an error names. */
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

/** `onStatus` is called with the status of each answer, and with null where a request begins. */
function openBucket(
  access: S3Access,
  bucket: string,
  signal: AbortSignal,
  onStatus: (status: number | null) => void,
): S3mini {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = access;
  return new S3mini({
    accessKeyId,
    secretAccessKey,
    region,
    endpoint: `${endpoint}/${bucket}`,
    async fetch(input, init) {
      onStatus(null);
      const answer = await fetch(input, {
        ...init,
        ...(sessionToken !== null && {
          headers: signWithToken(new URL(String(input)), init ?? {}, access, sessionToken),
        }),
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
  return error instanceof Error ? error : new Error('the storage answered what was not understood');
}

/** Returns the status of the answer that the error is about; null where there was none. */
export function statusOf(error: unknown): number | null {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : null;
}

function explain(error: unknown, answered: number | null, { region }: S3Access): string {
  const broken = networkCode(error);
  const code = broken ?? errorCode(error);
  const status = statusOf(error) ?? answered;
  if (status === null || broken !== null) {
    return `it cannot be reached${code === '' ? '' : ` (${code})`}: check AWS_ENDPOINT_URL and AWS_REGION (${region})`;
  }
  const known = /^[A-Za-z]{1,64}$/.test(code) && code !== 'Unknown' ? ` ${code}` : '';
  const said =
    status >= 300 ? known : ` with ${known === '' ? 'a body that is not understood' : `the error${known}`}`;
  return `it answered ${status}${said}`;
}

function networkCode(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : null;
}
