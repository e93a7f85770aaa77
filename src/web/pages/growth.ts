// How large each table is, how fast the mirror grows, and when there is no room left at this rate: a part of the page
// of the data.

import { formatBytes, formatCount } from '../../contract/format.ts';
import { describeDisk, describeKept, describeRate } from '../../reports/growth-words.ts';
import { DAYS_PER_YEAR } from '../../reports/measure-tables.ts';
import type { ShownGrowth } from '../../reports/read-growth.ts';
import { orNothing } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import { column, numbers, table } from '../table.ts';

/** Returns the section. */
export function showGrowth({ growth, ...figure }: ShownGrowth): Html {
  return section({
    id: 'growth',
    title: 'Size and growth',
    figure,
    body: html`<p>${describeRate(growth)}.</p>
<p>${describeDisk(growth)}.</p>
${table('Size and growth of each table', growth.tables, [
  column('table', ({ table_name }) => table_name),
  numbers('rows', ({ rows }) => formatCount(rows)),
  numbers('without indexes', ({ bytes, index_bytes }) => formatBytes(bytes - index_bytes)),
  numbers('indexes', ({ index_bytes }) => formatBytes(index_bytes)),
  numbers('on disk', ({ bytes }) => formatBytes(bytes)),
  numbers('rows a year', ({ rows_per_day: perDay }) =>
    orNothing(perDay === null ? null : formatCount(Math.round(perDay * DAYS_PER_YEAR))),
  ),
  numbers('gains a year', ({ bytes_per_year: perYear }) =>
    orNothing(perYear === null ? null : formatBytes(perYear)),
  ),
  column('kept', describeKept),
])}
<p class="quiet">At the rate of the last 30 days, without the first load. What is pruned counts among the rows of a year, and not in what is gained. Of a large table, rows and rates are estimated from a sample.</p>`,
  });
}
