// How large each table is, how fast the mirror grows, and when there is no room left at this rate: a part of the page
// of the data.

import { formatBytes, formatCount } from '../../contract/format.ts';
import { describeKept } from '../../reports/kept-words.ts';
import { DAYS_PER_YEAR } from '../../reports/measure-tables.ts';
import type { Growth, ShownGrowth } from '../../reports/read-growth.ts';
import { orNothing } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import { column, numbers, table } from '../table.ts';
import { durationOf, momentOf } from '../words.ts';

/** Returns the section. */
export function showGrowth({ growth, ...figure }: ShownGrowth): Html {
  return section({
    id: 'growth',
    title: 'Size and growth',
    figure,
    body: html`<p>${describeSize(growth)}</p>
<p>${describeSpace(growth)}</p>
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

function describeSize({ bytes, bytes_per_year, measured_since }: Growth): Html {
  const size = html`The database has ${formatBytes(bytes)}, with the queue and whatever else is in it`;
  if (bytes_per_year === null || measured_since === null) {
    return html`${size}. How fast it grows is known a day after everything was read first.`;
  }
  return html`${size}, and gains ${formatBytes(bytes_per_year)} a year at this rate, as measured since ${momentOf(measured_since)}.`;
}

function describeSpace({ bytes_per_year, disk }: Growth): Html {
  const { source, free_bytes, full_at, full_in_days } = disk;
  if (source === null || free_bytes === null) {
    return html`When there is no room left is not known: set <code>DATABASE_SIZE_LIMIT</code> to what the database may become.`;
  }
  const of =
    source === 'limit'
      ? html`of <code>DATABASE_SIZE_LIMIT</code>`
      : html`on the disk of <code>DATA_DIR</code>`;
  if (free_bytes <= 0) return html`<strong class="bad">Nothing is left</strong> ${of}.`;
  const left = html`${formatBytes(free_bytes)} are left ${of}`;
  if (bytes_per_year === null) return html`${left}.`;
  if (full_at === null || full_in_days === null) return html`${left}: enough for years at this rate.`;
  return html`${left}: used up in ${durationOf(full_in_days * 86_400)}, on ${full_at.slice(0, 10)}, at this rate.`;
}
