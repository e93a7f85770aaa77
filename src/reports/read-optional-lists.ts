// Which of the optional lists the program has, as it was last found out.

import { sql } from 'kysely';
import type { OptionalList } from '../config/optional-lists.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';

export interface OptionalListStatus {
  readonly resource: OptionalList;
  /** OPTIONAL_LISTS, as last configured of this list: auto, on or off. */
  readonly setting: string;
  /** What the program last said; null where it was never asked with success. */
  readonly is_served: boolean | null;
  /** Whether the resource is mirrored by its list. */
  readonly is_used: boolean;
  readonly found_at: Timestamp | null;
  readonly asked_at: Timestamp | null;
  /** Why the last question decided nothing; null where it did. */
  readonly problem: string | null;
}

/** Returns the status of each list at this moment. */
export async function readOptionalLists(db: Database): Promise<OptionalListStatus[]> {
  const { rows } = await sql<OptionalListStatus>`
    select resource, setting, is_served, is_used, found_at, asked_at, problem
    from optional_lists order by resource`.execute(db);
  return rows;
}
