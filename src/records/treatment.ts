// How personal data are kept, as far as the reading of records knows of it: what is stored of each row and of each
// record that was refused. How the modes do it is in src/personal-data.

import type { MirrorRow } from './rows-of-record.ts';

export interface Treatment {
  /** Mode and fingerprint of the key: a load compares them with the mirror's (lock_for_storing). */
  readonly kept: string;
  /** Returns the row as it may be stored; may change the row itself. */
  treatRow(row: MirrorRow): MirrorRow;
  /** Returns what may be stored of a record that was refused. */
  treatRefused(id: string | null, payload: unknown): unknown;
}

/** Everything is kept as it came. */
export const PLAIN: Treatment = {
  kept: 'plain:-',
  treatRow: (row) => row,
  treatRefused: (_, payload) => payload,
};
