// The size of the mirror, its growth, and when its disk is full at this rate. Writes nothing.

import { z } from 'zod';
import { bytes, timestamp } from './fields.ts';
import { memoizeIn, type Reader } from './figure.ts';
import { DAYS_PER_YEAR, type Measured, measureTables, tableGrowth } from './measure-tables.ts';

/** The space for the database. */
export type DiskSpace =
  /** DATABASE_SIZE_LIMIT, for the whole database. */
  | { readonly source: 'limit'; readonly limitBytes: number }
  /** The file system of the embedded Postgres, which others may use too. */
  | { readonly source: 'file_system'; readonly freeBytes: number };

/** The whole database is more than the sum of these tables: it has the queue and others' tables. */
export const growth = z.object({
  tables: z.array(tableGrowth).readonly().describe('the largest first'),
  bytes: bytes('the size of the whole database'),
  bytes_per_year: bytes('its growth in a year at this rate').nullable(),
  measured_since: timestamp(
    'from when on rows were counted; null until a day after the first load',
  ).nullable(),
  disk: z.object({
    source: z
      .enum(['limit', 'file_system'])
      .nullable()
      .describe('DATABASE_SIZE_LIMIT, or the disk of the embedded Postgres; null: not known'),
    free_bytes: bytes('what is left').nullable(),
    full_at: timestamp('when nothing is left at this rate; null if that takes years').nullable(),
    full_in_days: z.number().nullable().describe('in how many days'),
  }),
});

export type Growth = z.infer<typeof growth>;

export interface ShownGrowth {
  readonly growth: Growth;
  /** The statement that gave the figures of the tables. */
  readonly sql: string;
  readonly asOf: string;
}

/** No later date is named, because the rate will have changed by then. */
const FARTHEST_DAYS = 3650;

export interface GrowthDeps extends Reader {
  /** Returns null if the space is not known. */
  readonly readSpace: () => Promise<DiskSpace | null>;
}

/** Returns the growth at this moment. Units: bytes; days are 24 hours. */
export async function readGrowth(deps: GrowthDeps): Promise<ShownGrowth> {
  return judgeGrowth(await measureTables(deps), await deps.readSpace());
}

/** The same, memoized except for the free space: measuring takes a third of a second if tables are large. */
export async function readMemoizedGrowth(deps: GrowthDeps): Promise<ShownGrowth> {
  const { db, mirrorSchema } = deps;
  const measured = await memoizeIn(db, 'growth', () => measureTables({ db, mirrorSchema }));
  return judgeGrowth(measured, await deps.readSpace());
}

function judgeGrowth(measured: Measured, space: DiskSpace | null): ShownGrowth {
  const { now, bytes, since, days, tables, sql, asOf } = measured;
  const known = tables.flatMap(({ bytes_per_year }) => bytes_per_year ?? []);
  const perYear = days === null ? null : known.reduce((sum, each) => sum + each, 0);
  const growth = {
    tables,
    bytes,
    bytes_per_year: perYear,
    measured_since: days === null ? null : since,
    disk: judgeDisk(space, { nowMs: Date.parse(now), bytes, perYear }),
  };
  return { growth, sql, asOf };
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
