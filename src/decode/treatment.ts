// How personal data are stored, as an interface for decoding; src/mirror/people has the modes.

import type { MirrorRow } from './rows.ts';

export interface Treatment {
  /** Mode and fingerprint of the key: a load compares them with the mirror's (lock_for_loading). */
  readonly storedAs: string;
  /** Returns the row as it may be stored; may change the row itself. */
  treatRow(row: MirrorRow): MirrorRow;
  /** Returns the storable part of a record that was refused. */
  treatRefused(id: string | null, payload: unknown): unknown;
}

/** Everything is stored as it came. */
export const PLAIN: Treatment = {
  storedAs: 'plain:-',
  treatRow: (row) => row,
  treatRefused: (_, payload) => payload,
};
