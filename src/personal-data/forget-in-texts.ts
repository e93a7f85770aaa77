// Replaces what says who a person is in what people wrote into the payment ledger, and in the API's refusals there.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { count, type RowCounts } from './rewriting.ts';

/** What people write, and the columns that may have the API's reason for a refusal. */
const TEXTS = ['reason', 'batch_id', 'outcome'] as const;

/** Of the payment ledger, what keeps a payment from being made twice, and who asked: it is never rewritten. */
const UNTOUCHED = ['idempotency_key', 'requested_by'] as const;

/** Returns the pattern that finds any of the texts where it is no part of a longer address or word; null for none. */
export function patternOf(texts: readonly string[]): string | null {
  const given = [...new Set(texts)].filter((text) => text.trim() !== '');
  if (given.length === 0) return null;
  const spelled = given.map((text) =>
    text
      .replace(/[^\p{L}\p{N}\s@_-]/gu, '\\$&')
      .replace(/,?\s+/g, (gap) => (gap.startsWith(',') ? ',\\s*' : '\\s+')),
  );
  return `(?<![\\w.+-])(?:${spelled.join('|')})(?![\\w-]|\\.\\w)`;
}

/** Puts `[forgotten]` in place of whatever the pattern finds, whatever its case. */
export async function forgetInTexts(
  trx: DatabaseTransaction,
  pattern: string,
  counts: RowCounts,
): Promise<void> {
  await sql`alter table commission_updates disable trigger keep_request`.execute(trx);
  const forgotten = TEXTS.map((column) => {
    const text = sql.ref(column);
    return sql`${text} = regexp_replace(${text}, ${pattern}, '[forgotten]', 'gi')`;
  });
  const found = TEXTS.map((column) => sql`${sql.ref(column)} ~* ${pattern}`);
  const rows = await sql`
    update commission_updates set ${sql.join(forgotten)} where ${sql.join(found, sql` or `)}
  `.execute(trx);
  count(counts, 'commission_updates', rows);
  await sql`alter table commission_updates enable trigger keep_request`.execute(trx);
}

export interface Kept {
  readonly table: string;
  readonly column: string;
  readonly rows: number;
}

/** Returns where the pattern is found in what is never rewritten. */
export async function findKept(trx: DatabaseTransaction, pattern: string): Promise<readonly Kept[]> {
  const kept: Kept[] = [];
  for (const column of UNTOUCHED) {
    const answer = await sql<{ rows: number }>`
      select count(*) as rows from commission_updates where ${sql.ref(column)} ~* ${pattern}
    `.execute(trx);
    const found = onlyRow(answer, 'the count of mentions').rows;
    if (found > 0) kept.push({ table: 'commission_updates', column, rows: found });
  }
  return kept;
}
