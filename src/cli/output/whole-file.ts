// A file that is written whole or not at all, and stays: under another name first, beside the one that it becomes.

import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError, errorCode } from '../../describe-error.ts';
import { ConfigError } from '../../errors.ts';
import { keepNames, nameDraft, openDraft } from '../../exports/targets/draft.ts';
import { whileWriting } from '../../exports/targets/unwritable.ts';
import type { Lifetime } from '../lifetime.ts';

export interface WholeFile {
  /** Writes it, in place of what may be there under its name. Throws: ExportTargetUnwritable. */
  write(bytes: Uint8Array): Promise<void>;
}

/**
 * Returns the file, for which there is room in its directory: so whoever pays first and writes then knows beforehand.
 * What was not written is gone with the lifetime. It has the permissions of the file that it replaces; a new one those
 * of the file `like`, whose rows it repeats, where there is one.
 *
 * Throws: ConfigError where nothing can be written there, or something is there that may not be replaced.
 */
export async function openWholeFile(
  path: string,
  lifetime: Lifetime,
  { mayReplace, like }: { mayReplace: boolean; like?: string },
): Promise<WholeFile> {
  const before = await stat(path).catch(() => null);
  // A device would be replaced too, for everybody on the machine.
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
        await keepNames(dirname(path));
      }),
  };
}
