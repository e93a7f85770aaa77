// Reads a payout file that a test made, with its problems in words.

import { type BatchOptions, readBatchFile } from '../../../src/payments/files/batch-file.ts';
import { PLAIN_FILE } from '../../../src/payments/files/file-options.ts';

/** Returns the file as it was read, and each problem as `LINE: PROBLEM`. */
export async function readPayouts(bytes: Uint8Array | string, options: Partial<BatchOptions> = {}) {
  const file = await readBatchFile(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes, {
    ...PLAIN_FILE,
    action: null,
    evenIfRefunded: false,
    ...options,
  });
  return { ...file, words: file.problems.map(({ line, problem }) => `${line ?? 'file'}: ${problem}`) };
}
