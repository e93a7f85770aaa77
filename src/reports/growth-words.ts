// The growth of the mirror in words: the retention of a table (docs/retention.md), the growth of the database, and when
// its disk is full.

import { counted, formatBytes, formatTimestamp } from '../contract/format.ts';
import type { TableGrowth } from './measure-tables.ts';
import type { Growth } from './read-growth.ts';

const BY_ITSELF: ReadonlyMap<string, string> = new Map([
  ['request_permits', 'for minutes'],
  ['seen_rows', 'until the next run'],
  ['held_back_deletions', 'until the next run'],
  ['covered_counters', 'until the next run'],
  ['alert_notices', 'with their alert'],
]);

/** Returns the setting, or the limit of a table that bounds itself: `400 days`, `until the next run` or `for ever`. */
export function describeKept({
  table_name,
  keep_days,
}: Pick<TableGrowth, 'table_name' | 'keep_days'>): string {
  if (keep_days !== null) return counted(keep_days, 'day');
  return BY_ITSELF.get(table_name) ?? 'for ever';
}

/** Returns the size and growth of the database: a sentence without its full stop. */
export function describeRate({ bytes, bytes_per_year, measured_since }: Growth): string {
  const size = `The database has ${formatBytes(bytes)}`;
  if (bytes_per_year === null || measured_since === null) {
    return `${size}; how fast it grows is known a day after everything was read first`;
  }
  return `${size} and gains ${formatBytes(bytes_per_year)} a year, as measured since ${formatTimestamp(measured_since)}`;
}

/** Returns the free space, and when it is used up: a sentence without its full stop. */
export function describeDisk({ bytes_per_year, disk: { source, free_bytes, full_at } }: Growth): string {
  if (source === null || free_bytes === null) {
    return 'The space of the database is not known: set DATABASE_SIZE_LIMIT to its largest size';
  }
  const of = source === 'limit' ? 'of DATABASE_SIZE_LIMIT' : 'on the disk of DATA_DIR';
  if (free_bytes <= 0) return `Nothing is left ${of}`;
  const left = `${formatBytes(free_bytes)} are left ${of}`;
  if (bytes_per_year === null) return left;
  const when =
    full_at === null ? 'enough for years at this rate' : `full on ${full_at.slice(0, 10)} at this rate`;
  return `${left}: ${when}`;
}
