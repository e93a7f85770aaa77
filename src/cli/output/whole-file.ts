// A file that is written whole or not at all, and durably: as a draft in the same directory, then renamed.

import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError, errorCode } from '../../base/describe-error.ts';
import { ConfigError } from '../../base/errors.ts';
import { nameDraft, openDraft, syncNames, whileWriting } from '../../exports/targets/draft.ts';
import type { Lifetime } from '../lifetime.ts';

export interface WholeFile {
  /** Writes it, and replaces an older file of the name. Throws: ExportTargetUnwritable. */
  write(bytes: Uint8Array): Promise<void>;
}

/**
 * Returns the file, whose draft exists: a command that pays first and writes then knows beforehand that it can write.
 * An unwritten draft is removed with the lifetime. The file has the permissions of the one that it replaces; a new one
 * those of the file `like`.
 *
 * Throws: ConfigError if nothing can be written there, or a file is there that may not be replaced.
 */
export async function openWholeFile(
  path: string,
  lifetime: Lifetime,
  { mayReplace, like }: { mayReplace: boolean; like?: string },
): Promise<WholeFile> {
  const before = await stat(path).catch(() => null);
  // A device would be replaced too, for every user of the machine.
  if (before?.isFile() === false) throw new ConfigError([`cannot write ${path}: it is no regular file`]);
  if (before !== null && !mayReplace) {
    throw new ConfigError([`${path} is there already: delete it, or give another name`]);
  }
  const draft = nameDraft(path);
  const model = like === undefined ? null : await stat(like).catch(() => null);
  const handle = await openDraft(draft, before, model?.isFile() === true ? model.mode : undefined).catch(
    (error: unknown) => {
      const reason = errorCode(error) === 'ENOENT' ? 'there is no such directory' : describeError(error);
      throw new ConfigError([`cannot write ${path}: ${reason}`]);
    },
  );
  lifetime.onClose(async () => {
    await handle.close();
    await rm(draft, { force: true });
  });
  return {
    write: (bytes) =>
      whileWriting(path, async () => {
        await handle.writeFile(bytes);
        await handle.sync();
        await handle.close();
        await rename(draft, path);
        await syncNames(dirname(path));
      }),
  };
}
