// How large the mirror is, how fast it grows, and when it would be full at this rate. Writes nothing.

import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { DAYS_PER_YEAR, type Measured, measureTables, type TableGrowth } from './measure-tables.ts';

/** What the database may grow into: read by whoever knows. */
export type DiskSpace =
  /** DATABASE_SIZE_LIMIT: what the whole database may become. */
  | { readonly source: 'limit'; readonly limitBytes: number }
  /** The file system that holds the embedded Postgres, which others may use too. */
  | { readonly source: 'file_system'; readonly freeBytes: number };

/**
 * Shape: `tables` is ordered by size, the largest first; `bytes` is the whole database, with the queue and with what
 * else is in it, so it is more than their sum.
 */
export interface Growth {
  readonly tables: readonly TableGrowth[];
  readonly bytes: number;
  /** Null while it is not known. */
  readonly bytes_per_year: number | null;
  /** From when on the rows were counted: 30 days ago, or later where the first load was. Null before there was one. */
  readonly measured_since: Timestamp | null;
  readonly disk: {
    /** Where the space is known from; null where it is not. */
    readonly source: DiskSpace['source'] | null;
    /** What is left; below zero where the limit is exceeded. */
    readonly free_bytes: number | null;
    /** When nothing is left at this rate; null where that is not known, or it does not grow. */
    readonly full_at: Timestamp | null;
    readonly full_in_days: number | null;
  };
}

/** No date is named that is further away: the rate will have changed by then. */
const FARTHEST_DAYS = 3650;

/**
 * Returns the growth at this moment. `space` is null where nobody knows what is free.
 *
 * Units: bytes; days are 24 hours.
 */
export async function readGrowth(
  db: Database,
  { space }: { readonly space: DiskSpace | null },
): Promise<Growth> {
  return judgeGrowth(await measureTables(db), space);
}

/** Returns the growth as it was measured, and when that space is used up. Pure. */
export function judgeGrowth({ now, bytes, since, days, tables }: Measured, space: DiskSpace | null): Growth {
  const known = tables.flatMap(({ bytes_per_year }) => bytes_per_year ?? []);
  const perYear = days === null ? null : known.reduce((sum, each) => sum + each, 0);
  return {
    tables,
    bytes,
    bytes_per_year: perYear,
    measured_since: days === null ? null : since,
    disk: judgeDisk(space, { nowMs: Date.parse(now), bytes, perYear }),
  };
}

function judgeDisk(
  space: DiskSpace | null,
  { nowMs, bytes, perYear }: { nowMs: number; bytes: number; perYear: number | null },
): Growth['disk'] {
  if (space === null) return { source: null, free_bytes: null, full_at: null, full_in_days: null };
  const free = space.source === 'limit' ? space.limitBytes - bytes : space.freeBytes;
  const perDay = (perYear ?? 0) / DAYS_PER_YEAR;
  const inDays = free <= 0 ? 0 : perDay > 0 ? free / perDay : Number.POSITIVE_INFINITY;
  const isKnown = inDays <= FARTHEST_DAYS;
  return {
    source: space.source,
    free_bytes: free,
    full_at: isKnown ? new Date(nowMs + inDays * 86_400_000).toISOString() : null,
    full_in_days: isKnown ? inDays : null,
  };
}
