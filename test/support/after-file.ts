// Closes what a test file opened, when that file ends. Test files share processes, in which a module is loaded once: a
// hook that a module registers while it loads would belong to the first file alone.

/** Of the file that ends. */
export interface FileOutcome {
  readonly hasFailed: boolean;
}

type Close = (outcome: FileOutcome) => unknown;

const closers: Close[] = [];

/** Has it called when the test file that runs now ends: what was opened last is closed first. */
export function afterFile(close: Close): void {
  closers.push(close);
}

/** Calls what was asked for, all of it even where one fails. Throws: the first error. */
export async function closeFile(outcome: FileOutcome): Promise<void> {
  const errors: unknown[] = [];
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    try {
      await close(outcome);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
