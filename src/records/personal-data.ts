// What the reading of records has to know of personal data: that somebody treats each row before it is kept. How is in
// src/personal-data.

import type { MirroredTable } from './mirrored-tables.ts';
import type { MirrorRow } from './rows-of-record.ts';

/** How rows are marked that nobody treated: they fit a mirror that keeps all, and where nobody was forgotten. */
export const UNTREATED = 'plain:-:0:0';

export interface RefusedRecord {
  readonly table: MirroredTable;
  readonly id: string | null;
  readonly reason: string;
  /** The record as it came, as deep as it can be stored. */
  readonly payload: unknown;
}

/** A record of somebody who was forgotten, recognised by its address, or a link by its affiliate. */
export interface Recognised {
  readonly table: MirroredTable;
  readonly id: string;
  /** As `forgotten_addresses` has it; null of a link. */
  readonly addressHash: string | null;
  /** Of a link; null of any other record. */
  readonly affiliateId: string | null;
}

export interface PersonalData {
  /** What was known before anything was recognised: a load compares it with the database's (kept_personal_data). */
  readonly stamp: string;
  /** All that was recognised until now, in that order: it grows while rows are treated. */
  readonly recognised: readonly Recognised[];
  /** Whether a reason may quote what came. */
  readonly mayQuote: boolean;
  /** Returns the row as it may be stored; may change the row itself. */
  treatRow(row: MirrorRow): MirrorRow;
  /** Returns the reason and the payload as they may be stored. */
  treatRefused(refused: RefusedRecord): { readonly reason: string; readonly payload: unknown };
}
