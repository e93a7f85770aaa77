// What is said of a file that cannot be written.

import { describeError, errorCode } from '../../describe-error.ts';
import { ExportTargetUnwritable } from '../../errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EACCES: 'this user may not write there',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  EROFS: 'the file system is read-only',
};

/** Returns why, in words where they are known. */
export function explainUnwritable(error: unknown): string {
  return REASONS[errorCode(error)] ?? describeError(error);
}

/** Returns what the work returns, which writes there. Throws: ExportTargetUnwritable. */
export async function whileWriting<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ExportTargetUnwritable(`cannot write ${location}: ${explainUnwritable(error)}`, {
      cause: error,
    });
  }
}
