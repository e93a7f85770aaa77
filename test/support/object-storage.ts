// S3-compatible storage for a test file, on this machine: s3rver with one bucket, in the test's own process. It cannot
// abort an upload in parts; that, and faults on demand, are added before it.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { S3mini } from 's3mini';
import { makeDirectory } from './directory.ts';

export interface ObjectStorage {
  /** What a command needs to reach it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns the names of all objects, in their order. */
  list(): Promise<string[]>;
  read(key: string): Promise<Buffer>;
  /** Returns how many uploads in parts were begun, and neither completed nor aborted. */
  countUploads(): number;
  /** Answers instead of the storage where it returns true. Null: nobody does. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  close(): Promise<void>;
}

interface Server {
  configureBuckets(): Promise<unknown>;
  callback(): (request: IncomingMessage, response: ServerResponse) => unknown;
}

// It has no types.
const S3rver: new (options: object) => Server = createRequire(import.meta.url)('s3rver');

export const BUCKET = 'exports';
/** The one that s3rver knows. */
const KEY = 'S3RVER';

/** Returns the storage, running and empty. */
export async function startObjectStorage(): Promise<ObjectStorage> {
  const directory = await makeDirectory();
  const s3rver = new S3rver({ silent: true, directory, configureBuckets: [{ name: BUCKET }] });
  await s3rver.configureBuckets();
  const uploads = join(directory, BUCKET, '._S3rver_uploads');
  const listener = s3rver.callback();
  const server = createServer((request, response) => {
    if (storage.intercept?.(request, response) === true) return;
    const id = new URL(request.url ?? '', 'http://localhost').searchParams.get('uploadId');
    if (request.method !== 'DELETE' || id === null) return void listener(request, response);
    if (!existsSync(join(uploads, id))) {
      response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
      return;
    }
    rmSync(join(uploads, id), { recursive: true });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const s3 = new S3mini({
    accessKeyId: KEY,
    secretAccessKey: KEY,
    region: 'us-east-1',
    endpoint: `${endpoint}/${BUCKET}`,
  });
  const storage: ObjectStorage = {
    environment: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY, AWS_ENDPOINT_URL: endpoint },
    list: async () => ((await s3.listObjects('/', '')) ?? []).map(({ Key }) => Key).toSorted(),
    async read(key) {
      const bytes = await s3.getObjectArrayBuffer(key);
      if (bytes === null) throw new Error(`there is no object ${key}`);
      return Buffer.from(bytes);
    },
    countUploads: () => (existsSync(uploads) ? readdirSync(uploads).length : 0),
    intercept: null,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return storage;
}
