// One file of an export in S3-compatible storage: put at once if it is small, else in parts.

import type { S3mini, UploadPart } from 's3mini';
import type { OpenFile } from './delivery.ts';

/**
 * The smallest size of a part, except the last one; the limit of 10,000 parts allows 48 GB. Source: Amazon S3,
 * multipart upload limits.
 */
const PART_BYTES = 5 * 2 ** 20;

/** The parts of an unfinished export in the storage. */
export interface Stored {
  /** Of its objects, also of one that is being put. */
  readonly keys: string[];
  /** Identifiers of incomplete uploads, by key. */
  readonly uploads: Map<string, string>;
}

export interface S3FileInput {
  readonly key: string;
  readonly contentType: string;
  readonly stored: Stored;
  readonly call: <T>(request: (s3: S3mini) => Promise<T>) => Promise<T>;
}

interface Completed {
  readonly etag?: string;
  readonly Error?: { readonly Code?: unknown };
}

export function openS3File({ key, contentType, stored, call }: S3FileInput): OpenFile {
  const { keys, uploads } = stored;
  const part = makePart();
  const sent: UploadPart[] = [];

  const sendPart = async () => {
    const id = uploads.get(key) ?? (await call((s3) => s3.getMultipartUploadId(key, contentType)));
    uploads.set(key, id);
    const bytes = part.take();
    sent.push(await call((s3) => s3.uploadPart(key, id, bytes, sent.length + 1)));
  };

  const complete = async (id: string) => {
    await call(async (s3) => {
      // A storage that fails here answers 200, and names its error only in the body.
      const { etag, Error: failure }: Completed = await s3.completeMultipartUpload(key, id, sent);
      const code = String(failure?.Code ?? '');
      if (!etag) throw Object.assign(new Error('the upload was not completed'), { code });
    });
    uploads.delete(key);
  };

  return {
    async write(bytes) {
      for (let from = 0; from < bytes.byteLength; ) {
        from += part.add(bytes.subarray(from));
        if (part.isFull()) await sendPart();
      }
    },
    async close() {
      keys.push(key);
      const id = uploads.get(key);
      if (id === undefined) {
        const bytes = part.take();
        await call((s3) => s3.putObject(key, bytes, contentType));
        return;
      }
      if (!part.isEmpty()) await sendPart();
      await complete(id);
    },
  };
}

interface Part {
  isEmpty(): boolean;
  isFull(): boolean;
  /** Adds as many of the first bytes as there is room for, and returns their number. */
  add(bytes: Uint8Array): number;
  /** Returns the bytes since the last call. Valid until the next `add`. */
  take(): Buffer;
}

function makePart(): Part {
  // One for all parts of the file: a new one for each would be freed late, and take tens of MB.
  let buffer: Buffer | null = null;
  let size = 0;
  return {
    isEmpty: () => size === 0,
    isFull: () => size === PART_BYTES,
    add(bytes) {
      buffer ??= Buffer.allocUnsafeSlow(PART_BYTES);
      const taken = bytes.subarray(0, PART_BYTES - size);
      buffer.set(taken, size);
      size += taken.byteLength;
      return taken.byteLength;
    },
    take() {
      const added = buffer?.subarray(0, size) ?? Buffer.alloc(0);
      size = 0;
      return added;
    },
  };
}
