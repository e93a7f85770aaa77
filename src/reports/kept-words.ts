// How long the rows of a table are kept, in words: what is set, or what a table that bounds itself goes by (see
// docs/retention.md).

import { counted } from '../contract/format.ts';
import type { TableGrowth } from './measure-tables.ts';

const BY_ITSELF: ReadonlyMap<string, string> = new Map([
  ['request_permits', 'for minutes'],
  ['seen_rows', 'until the next run'],
  ['held_back_deletions', 'until the next run'],
  ['covered_counters', 'until the next run'],
  ['alert_notices', 'with their alert'],
]);

/** Returns such as `400 days`, `until the next run` or `for ever`. */
export function describeKept({
  table_name,
  keep_days,
}: Pick<TableGrowth, 'table_name' | 'keep_days'>): string {
  if (keep_days !== null) return counted(keep_days, 'day');
  return BY_ITSELF.get(table_name) ?? 'for ever';
}
