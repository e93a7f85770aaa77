// Exports in S3-compatible storage. An object is seen when it is complete; an export when its manifest is there, which
// is put last.

import type { S3mini } from 's3mini';
import type { S3Access } from '../../config/s3-access.ts';
import { type Delivery, MANIFEST } from './delivery.ts';
import { makeS3Call, type S3Call, statusOf } from './s3-call.ts';
import { openS3File, type Stored } from './s3-file.ts';

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
  const manifestKey = `${base}/${MANIFEST}`;
  const call = makeS3Call(access, bucket, location);
  const stored: Stored = { keys: [], uploads: new Map() };
  let isManifestPut = false;
  return {
    location,
    openFile: async (path) =>
      openS3File({
        key: `${base}/${path}`,
        contentType,
        stored,
        call: (request) => call(signal, request),
      }),
    async publish(manifest) {
      isManifestPut = true;
      await call(signal, (s3) => s3.putObject(manifestKey, manifest, 'application/json'));
    },
    async discard() {
      // Not ended by the signal, which is often why there is something to remove.
      const always = new AbortController().signal;
      // The manifest first, and nothing else where it stays: what is being removed is no export.
      if (isManifestPut) await call(always, (s3) => s3.deleteObject(manifestKey));
      await removeAll(stored, always, call);
    },
  };
}

async function removeAll({ keys, uploads }: Stored, signal: AbortSignal, call: S3Call): Promise<void> {
  const removals: ((s3: S3mini) => Promise<unknown>)[] = [
    ...keys.toReversed().map((key) => (s3: S3mini) => s3.deleteObject(key)),
    ...[...uploads].map(
      ([key, id]) =>
        (s3: S3mini) =>
          s3.abortMultipartUpload(key, id).catch(unlessGone),
    ),
  ];
  const failures: unknown[] = [];
  for (const removal of removals) {
    await call(signal, removal).catch((error: unknown) => failures.push(error));
    if (failures.length >= MOST_FAILED_REMOVALS) break;
  }
  if (failures.length > 0) throw failures[0];
}

/** An upload is gone where it was completed, or aborted, and the answer was lost. */
function unlessGone(error: unknown): void {
  if (statusOf(error) !== 404) throw error;
}
