// Records as a page of their list, as the program sends it.

import { wholeList } from '../../src/contract/answer-bodies.ts';
import type { PageBytes } from '../../src/decode/decode-page.ts';

/** Returns the page on which all of these records are. */
export function pageBytes(records: readonly unknown[], observedAt: string): PageBytes {
  return { bytes: Buffer.from(JSON.stringify(wholeList(records, Math.max(1, records.length)))), observedAt };
}
