// How much of the account's request budget is used. Only reads: takes no permit.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

export interface BudgetStatus {
  /** Requests that count at this moment: in flight, or answered less than a window ago. */
  readonly used_requests: number;
  /** Requests that somebody else must have made, by what the program says remains. */
  readonly foreign_requests: number;
  /** The limit that the program's answers name, where it is lower than the configured one; null otherwise. */
  readonly limit_requests: number | null;
  /** No request is sent before this; null where nothing is paused. */
  readonly paused_until: Timestamp | null;
  /** When the program last answered 429. */
  readonly last_throttled_at: Timestamp | null;
}

/** Returns the budget at this moment. */
export async function readBudget(db: Database): Promise<BudgetStatus> {
  const answer = await sql<BudgetStatus>`
    select used_requests, foreign_requests, limit_requests, paused_until, last_throttled_at from request_usage
  `.execute(db);
  return onlyRow(answer, 'request_usage');
}
