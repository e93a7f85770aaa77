// Whether the program lists its commissions, as it was last found out, and whether their sums are its own.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

export interface CommissionListStatus {
  /** OPTIONAL_LISTS, as last configured of commissions. */
  readonly setting: string;
  /** What the program last said; null where it was never asked with success. */
  readonly is_served: boolean | null;
  /** Whether commissions are mirrored by their list. */
  readonly is_used: boolean;
  readonly found_at: Timestamp | null;
  readonly asked_at: Timestamp | null;
  /** Why the last question decided nothing; null where it did. */
  readonly problem: string | null;
  /**
   * Affiliates and currencies whose sums of commissions are not those that the program reports (the view
   * commission_differences), recent ones left out. Null where the mirror need not have every commission.
   */
  readonly differences: number | null;
}

/** Returns the status at this moment. */
export async function readCommissionList(db: Database): Promise<CommissionListStatus> {
  const answer = await sql<CommissionListStatus>`
    select setting, is_served, is_used, found_at, asked_at, problem, differences from commission_coverage
  `.execute(db);
  return onlyRow(answer, 'commission_coverage');
}
