// How the growth of the mirror looks to people: its tables, what they gain in a year, and when the disk is full.

import { formatBytes, formatCount } from '../../contract/format.ts';
import { describeDisk, describeKept, describeRate } from '../../reports/growth-words.ts';
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
