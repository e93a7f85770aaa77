// Exports in S3-compatible storage. An object is visible once it is complete; an export exists once its manifest does,
// which is put last.

import type { S3mini } from 's3mini';
import type { S3Access } from '../../config/process/s3-access.ts';
import { type Delivery, MANIFEST } from './delivery.ts';
import { makeS3Call, type S3Call, statusOf } from './s3-call.ts';
import { openS3File, type Stored } from './s3-file.ts';

export interface S3Place {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
}

/** An abort of the signal ends the running request. */
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
      // Without the signal, because its abort is often the reason for the removal.
      const always = new AbortController().signal;
      // The manifest first. If it cannot be removed, the files stay as well.
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
  // Each has its retries: a storage that refuses one is given up.
  for (const removal of removals) await call(signal, removal);
}

/** An upload is missing if it was completed or aborted, and the answer was lost. */
function unlessGone(error: unknown): void {
  if (statusOf(error) !== 404) throw error;
}
