// Exports in S3-compatible storage. An object is seen when it is complete; an export when its manifest is there, which
// is put last.
//
// What the storage answers is never shown: its errors echo access keys and signatures. Its status and its own code of
// the error say enough.

import pRetry, { AbortError } from 'p-retry';
import { S3mini, type UploadPart } from 's3mini';
import type { S3Access } from '../../config/s3-access.ts';
import { errorCode } from '../../describe-error.ts';
import { ExportTargetUnwritable } from '../../errors.ts';
import { type Delivery, MANIFEST, type OpenFile } from './delivery.ts';
import { signWithToken } from './sign-with-token.ts';

/**
 * The smallest that a part may be, but for the last one; 10,000 of them are 48 GB. Source: Amazon S3, multipart upload
 * limits.
 */
const PART_BYTES = 5 * 2 ** 20;
/** Longest wait for one answer: a part over a slow line. */
const REQUEST_TIMEOUT_MS = 120_000;
/** After 0.5, 1, 2 and 4 seconds, or up to twice that: a storage that is overloaded says 503, and expects it. */
const RETRIES = { retries: 4, minTimeout: 500, factor: 2, randomize: true };
/** A storage that cannot be reached is asked for so many objects, each with its retries, and not for hundreds. */
const MOST_FAILED_REMOVALS = 3;

export interface S3Place {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
}

/** Returns the delivery under prefix and name. Aborting the signal ends a request that is under way. */
export function deliverToS3(
  access: S3Access,
  { bucket, prefix }: S3Place,
  { name, contentType, signal }: { name: string; contentType: string; signal: AbortSignal },
): Delivery {
  const base = prefix === '' ? name : `${prefix}/${name}`;
  const location = `s3://${bucket}/${base}`;
  const call = makeCall(access, bucket, location);
  const manifestKey = `${base}/${MANIFEST}`;
  const put: string[] = [];
  let isManifestPut = false;
  const uploads = new Map<string, string>();

  const openFile = async (path: string): Promise<OpenFile> => {
    const key = `${base}/${path}`;
    const parts: UploadPart[] = [];
    // One for all parts of the file: a new one for each is let go of late, and takes tens of MB.
    let part: Buffer | null = null;
    let size = 0;
    const takeBody = () => {
      const body = part?.subarray(0, size) ?? Buffer.alloc(0);
      size = 0;
      return body;
    };
    const uploadPart = async () => {
      const id = uploads.get(key) ?? (await call(signal, (s3) => s3.getMultipartUploadId(key, contentType)));
      uploads.set(key, id);
      const body = takeBody();
      parts.push(await call(signal, (s3) => s3.uploadPart(key, id, body, parts.length + 1)));
    };
    return {
      async write(bytes) {
        part ??= Buffer.allocUnsafeSlow(PART_BYTES);
        for (let from = 0; from < bytes.byteLength; ) {
          const taken = bytes.subarray(from, from + PART_BYTES - size);
          part.set(taken, size);
          size += taken.byteLength;
          from += taken.byteLength;
          if (size === PART_BYTES) await uploadPart();
        }
      },
      async close() {
        put.push(key);
        if (!uploads.has(key)) {
          const body = takeBody();
          await call(signal, (s3) => s3.putObject(key, body, contentType));
          return;
        }
        if (size > 0) await uploadPart();
        const id = uploads.get(key) ?? '';
        await call(signal, async (s3) => {
          // A storage that fails at this answers 200, and says so in the body alone.
          const { etag } = await s3.completeMultipartUpload(key, id, parts);
          if (!etag) throw new Error('the upload was not completed');
        });
        uploads.delete(key);
      },
    };
  };

  return {
    location,
    openFile,
    async publish(manifest) {
      isManifestPut = true;
      await call(signal, (s3) => s3.putObject(manifestKey, manifest, 'application/json'));
    },
    async discard() {
      // Not ended by the signal, which is often why there is something to remove.
      const always = new AbortController().signal;
      // The manifest first, and nothing else where it stays: what is being removed is no export.
      if (isManifestPut) await call(always, (s3) => s3.deleteObject(manifestKey));
      const removals = [
        ...put.toReversed().map((key) => (s3: S3mini) => s3.deleteObject(key)),
        ...[...uploads].map(
          ([key, id]) =>
            (s3: S3mini) =>
              s3.abortMultipartUpload(key, id).catch(unlessGone),
        ),
      ];
      const failures: unknown[] = [];
      for (const removal of removals) {
        await call<unknown>(always, removal).catch((error: unknown) => failures.push(error));
        if (failures.length >= MOST_FAILED_REMOVALS) break;
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** An upload is gone where it was completed, or aborted, and the answer was lost. */
function unlessGone(error: unknown): void {
  if (statusOf(error) !== 404) throw error;
}

type Call = <T>(signal: AbortSignal, request: (s3: S3mini) => Promise<T>) => Promise<T>;

function makeCall(access: S3Access, bucket: string, location: string): Call {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = access;
  return async (signal, request) => {
    const s3 = new S3mini({
      accessKeyId,
      secretAccessKey,
      region,
      endpoint: `${endpoint}/${bucket}`,
      fetch: (input, init) =>
        fetch(input, {
          ...init,
          ...(sessionToken !== null && {
            headers: signWithToken(new URL(String(input)), init ?? {}, access, sessionToken),
          }),
          redirect: 'error',
          signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
        }),
    });
    try {
      return await pRetry(
        async () => {
          try {
            return await request(s3);
          } catch (error) {
            const status = statusOf(error);
            const mayPass = status === null || status >= 500 || status === 429 || status === 408;
            throw mayPass && error instanceof Error ? error : new AbortError(asError(error));
          }
        },
        { ...RETRIES, signal, shouldRetry: () => !signal.aborted },
      );
    } catch (error) {
      signal.throwIfAborted();
      throw new ExportTargetUnwritable(
        `cannot write to ${location} at ${endpoint}: ${explain(error, access)}`,
      );
    }
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the storage answered what was not understood');
}

function statusOf(error: unknown): number | null {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : null;
}

/** What the storage's own codes ask for. Source: Amazon S3, error responses. */
const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket',
  InvalidAccessKeyId: 'AWS_ACCESS_KEY_ID is not known there; a temporary one needs its AWS_SESSION_TOKEN',
  InvalidToken: 'AWS_SESSION_TOKEN does not belong to AWS_ACCESS_KEY_ID; for a lasting key, unset it',
  ExpiredToken: 'the temporary access key is over: set AWS_SESSION_TOKEN, and both parts of the key, anew',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY does not fit AWS_ACCESS_KEY_ID, or AWS_REGION is wrong',
  AccessDenied: 'this access key may not do that: it needs to put, delete and abort uploads of objects there',
  AuthorizationHeaderMalformed: 'AWS_REGION is not the region of the bucket',
  PermanentRedirect: 'the bucket is elsewhere: check AWS_REGION and AWS_ENDPOINT_URL',
};

function explain(error: unknown, { region }: S3Access): string {
  const status = statusOf(error);
  const code = networkCode(error) ?? errorCode(error);
  const hint = HINTS[code];
  if (status === null) {
    return `it cannot be reached${code === '' ? '' : ` (${code})`}: check AWS_ENDPOINT_URL and AWS_REGION (${region})`;
  }
  const known = /^[A-Za-z]{1,64}$/.test(code) && code !== 'Unknown' ? ` ${code}` : '';
  return `it answered ${status}${known}${hint === undefined ? '' : `: ${hint}`}`;
}

function networkCode(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : null;
}
