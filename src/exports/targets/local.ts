// Exports on this machine: a directory for several exports, a single file, or stdout. Files have other names until they
// are whole.

import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { errorCode } from '../../base/describe-error.ts';
import { ConfigError, ExportTargetUnwritable } from '../../base/errors.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { type Delivery, MANIFEST, type OpenFile } from './delivery.ts';
import { nameDraft, openDraft, syncNames, whileWriting } from './draft.ts';

/** Returns the delivery into a new directory of that name, whose files and manifest appear at once. */
export function deliverIntoDirectory(directory: string, name: string): Delivery {
  const location = join(directory, name);
  const draft = nameDraft(location);
  const files = trackHandles();
  const made: string[] = [];
  return {
    location,
    openFile: (path) =>
      whileWriting(location, async () => {
        made.push(...(await makeDirectory(dirname(join(draft, path)))));
        return files.open(location, join(draft, path));
      }),
    publish: (manifest) =>
      whileWriting(location, async () => {
        made.push(...(await makeDirectory(draft)));
        await writeWhole(join(draft, MANIFEST), manifest);
        // Their entries, and those of their parents.
        for (const place of new Set(made.flatMap((one) => [one, dirname(one)]))) await syncNames(place);
        await rename(draft, location);
        await syncNames(dirname(location));
      }),
    async discard() {
      await files.closeAll();
      await whileWriting(location, () => rm(draft, { recursive: true, force: true }));
    },
  };
}

/**
 * Returns the delivery of a single file, which replaces an existing one, with its manifest in the same directory.
 *
 * Throws: ConfigError if there is no such directory, or the path is a directory or a device such as /dev/stdout, which
 * the file would replace.
 */
export async function deliverFile(path: string): Promise<Delivery> {
  const directory = await stat(dirname(path)).catch(() => null);
  if (directory?.isDirectory() !== true) {
    throw new ConfigError([`cannot write ${path}: there is no directory ${dirname(path)}`]);
  }
  const before = await stat(path).catch(() => null);
  if (before?.isFile() === false) {
    throw new ConfigError([`cannot write ${path}: it is no regular file; -o - writes to stdout`]);
  }
  const draft = nameDraft(path);
  const manifestPath = `${path}.${MANIFEST}`;
  const manifestDraft = nameDraft(manifestPath);
  const files = trackHandles();
  return {
    location: path,
    openFile: () => whileWriting(path, () => files.open(path, draft, before)),
    publish: (manifest) =>
      whileWriting(path, async () => {
        await writeWhole(manifestDraft, manifest);
        // The new file must never have the manifest of the former one.
        await rm(manifestPath, { force: true });
        await rename(draft, path);
        await rename(manifestDraft, manifestPath);
        await syncNames(dirname(path));
      }),
    async discard() {
      await files.closeAll();
      await whileWriting(path, async () => {
        await rm(draft, { force: true });
        await rm(manifestDraft, { force: true });
      });
    },
  };
}

/**
 * Returns the delivery to a stream, which has no manifest. If the stream's reader ends early, the export fails, because
 * half an export would look whole. The stream reports every other failure to its owner, before the export is published.
 */
export function deliverToStream(stream: Writable, signal: AbortSignal): Delivery {
  let failure: unknown = null;
  stream.once('error', (error) => {
    failure = error;
  });
  const refuseHalf = () => {
    if (errorCode(failure) !== 'EPIPE') return;
    throw new ExportTargetUnwritable('cannot write stdout: its reader ended before everything was written');
  };
  return {
    location: 'stdout',
    openFile: async () => ({
      async write(bytes) {
        refuseHalf();
        if (failure !== null || stream.write(bytes)) return;
        await once(stream, 'drain', { signal }).catch((error: unknown) => {
          signal.throwIfAborted();
          failure ??= error;
        });
        refuseHalf();
      },
      close: async () => {},
    }),
    async publish() {
      await new Promise<void>((resolve) => {
        stream.write('', (error) => {
          failure ??= error ?? null;
          resolve();
        });
      });
      refuseHalf();
    },
    discard: async () => {},
  };
}

function trackHandles() {
  const handles = new Set<FileHandle>();
  const close = async (handle: FileHandle) => {
    if (handles.delete(handle)) await handle.close();
  };
  return {
    async open(location: string, path: string, before: Stats | null = null): Promise<OpenFile> {
      const handle = await openDraft(path, before);
      handles.add(handle);
      return {
        write: (bytes) => whileWriting(location, () => handle.writeFile(bytes)),
        close: () =>
          whileWriting(location, async () => {
            await handle.sync();
            await close(handle);
          }),
      };
    },
    closeAll: () => Promise.allSettled([...handles].map(close)),
  };
}

async function writeWhole(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
