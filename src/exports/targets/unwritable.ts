// What is said of a file that cannot be written.

import { describeError } from '../../describe-error.ts';
import { ExportTargetUnwritable } from '../../errors.ts';

/** Returns what the work returns, which writes there. Throws: ExportTargetUnwritable. */
export async function whileWriting<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ExportTargetUnwritable(`cannot write ${location}: ${describeError(error)}`, { cause: error });
  }
}
