// What a user points at by a word: a request's number, a commission's identifier, or the name of a batch.

import { type LedgerLine, readLedger, type Selection } from '../commissions/read-ledger.ts';
import { identifier } from '../contract/fields.ts';
import type { Database } from '../db/database.ts';
import { ConfigError } from '../errors.ts';

/** Returns the selection that the word stands for. */
export function parseSelection(word: string): Selection {
  const text = word.trim();
  if (/^\d{1,15}$/.test(text)) return { kind: 'requests', ids: [Number(text)] };
  if (identifier.safeParse(text).success) return { kind: 'commission', commissionId: text.toLowerCase() };
  return { kind: 'batch', batchId: text };
}

/** Returns the selected lines. Throws: ConfigError where there are none. */
export async function readSelected(db: Database, word: string): Promise<LedgerLine[]> {
  const lines = await readLedger(db, parseSelection(word));
  if (lines.length > 0) return lines;
  throw new ConfigError([
    `the payment ledger has no batch, request or commission ${word}: "affiliate-mirror commissions status" lists the batches`,
  ]);
}
