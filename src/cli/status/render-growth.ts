// How the growth of the mirror looks to people: its tables, what they gain in a year, and when the disk is full.

import { formatBytes, formatCount, formatTimestamp } from '../../contract/format.ts';
import { describeKept } from '../../reports/kept-words.ts';
import type { Growth } from '../../reports/read-growth.ts';
import { renderTable } from '../output/render-table.ts';

/** Smaller tables are summed up. */
const LEAST_BYTES = 100_000;

/** Returns the section. */
export function renderGrowth(growth: Growth): string {
  const shown = growth.tables.filter(({ bytes }) => bytes >= LEAST_BYTES);
  const table = renderTable(
    ['table', 'rows', 'size', 'rows a day', 'a year', 'kept'],
    shown.map((one) => [
      one.table_name,
      one.rows,
      formatBytes(one.bytes),
      one.rows_per_day === null ? null : formatCount(Math.round(one.rows_per_day)),
      one.bytes_per_year === null ? null : formatBytes(one.bytes_per_year),
      describeKept(one),
    ]),
  );
  const rest = growth.tables.length - shown.length;
  return [
    'Growth',
    ...(shown.length === 0 ? [] : [table]),
    ...(rest === 0
      ? []
      : [
          `${rest} more ${rest === 1 ? 'table is' : 'tables are'} smaller than ${formatBytes(LEAST_BYTES)}${rest === 1 ? '' : ' each'}`,
        ]),
    describeRate(growth),
    describeDisk(growth),
  ].join('\n');
}

function describeRate({ bytes, bytes_per_year, measured_since }: Growth): string {
  const size = `the database has ${formatBytes(bytes)}`;
  if (bytes_per_year === null || measured_since === null) {
    return `${size}; how fast it grows is known a day after everything was read first`;
  }
  return `${size} and gains ${formatBytes(bytes_per_year)} a year, as measured since ${formatTimestamp(measured_since)}`;
}

function describeDisk({ bytes_per_year, disk: { source, free_bytes, full_at } }: Growth): string {
  if (source === null || free_bytes === null) {
    return 'when its disk is full is not known: set DATABASE_SIZE_LIMIT to what the database may become';
  }
  const of = source === 'limit' ? 'of DATABASE_SIZE_LIMIT' : 'on the disk of DATA_DIR';
  if (free_bytes <= 0) return `nothing is left ${of}`;
  const left = `${formatBytes(free_bytes)} are left ${of}`;
  if (bytes_per_year === null) return left;
  const when =
    full_at === null ? 'enough for years at this rate' : `full on ${full_at.slice(0, 10)} at this rate`;
  return `${left}: ${when}`;
}
