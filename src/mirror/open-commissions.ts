// Which commissions can still move: those that are pending or due, or unpaid where the program sends no state.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { findMissing } from './mark-deleted.ts';
import type { SeenRows } from './runs/seen-rows.ts';

/** The states that the program's filter is asked for. Source: contract, A list of commissions. */
export const OPEN_STATES = ['pending', 'due'] as const;

const IS_OPEN = sql<boolean>`
  coalesce(state = any(${[...OPEN_STATES]}::text[]), paid_at is null and voided_at is null)`;

/** Returns whether a record of the program's, as it came, can still move; true where it does not say. */
export function isOpenRecord(record: unknown): boolean {
  if (record === null || typeof record !== 'object') return true;
  const { state, paid_at, voided_at } = record as Record<string, unknown>;
  if (typeof state === 'string') return OPEN_STATES.some((open) => open === state);
  return (paid_at ?? null) === null && (voided_at ?? null) === null;
}

/** Returns how many commissions that the mirror holds can still move. */
export async function countOpen(db: Database): Promise<number> {
  const answer = await sql<{ count: number }>`
    select count(*) as count from commissions where _deleted_at is null and ${IS_OPEN}`.execute(db);
  return onlyRow(answer, 'the count of open commissions').count;
}

/**
 * Returns the identifiers of those that the run did not meet, neither as rows nor as rejected records, and that nobody
 * else observed since it began.
 */
export async function findUnmetOpen(
  db: Database,
  { runId, seen }: { runId: number; seen: SeenRows },
): Promise<readonly string[]> {
  return (await findMissing(db, { runId, resource: 'commissions', seen, among: IS_OPEN })).ids;
}

/** Returns a living commission that the run has met; null where there is none. */
export async function findMetCommission(db: Database, seen: SeenRows): Promise<string | null> {
  const bits = seen.bits();
  const { rows } = await sql<{ id: string }>`
    select id from commissions
    where _deleted_at is null
      and case when _row_number < ${bits.length * 8} then get_bit(${bits}, _row_number) = 1 else false end
    limit 1`.execute(db);
  return rows[0]?.id ?? null;
}
