// New referrals, leads and conversions by day, as lines of different style.

import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { counted, formatCount } from '../../contract/format.ts';
import type { FunnelDay } from '../../reports/read-series.ts';
import { type Html, html } from '../html.ts';
import { column, numbers, table } from '../table.ts';
import { at, drawLabels, drawScale, HALF, plot, sayBeyond, scaleHeight, spellCompact, WIDE } from './plot.ts';

const LINES = [
  { name: 'new_referrals', label: 'new referrals', className: 'line-third' },
  { name: 'leads', label: 'leads', className: 'line-first' },
  { name: 'conversions', label: 'conversions', className: 'line-second' },
] as const;

/** A small chart has no new referrals. The days are consecutive, after all that is earlier. */
export function drawFunnel(rows: readonly FunnelDay[], { isSmall = false } = {}): Html {
  const days = rows.filter(({ day }) => day !== 'earlier');
  const [box, shown] = isSmall ? [HALF, LINES.slice(1)] : [WIDE, LINES];
  const most = Math.max(1, ...days.flatMap((day) => shown.map(({ name }) => day[name])));
  const height = scaleHeight(box, [most]);
  const place = scaleLinear()
    .domain([0, Math.max(1, days.length - 1)])
    .range([box.left, box.width - box.right]);
  const lines = shown.map(({ name, className }) => {
    const path = line<FunnelDay>()
      .digits(1)
      .x((_, index) => place(index))
      .y((day) => height(day[name]));
    return html`<path class="${className}" d="${path(days) ?? ''}"/>\n`;
  });
  const title = `${isSmall ? 'Leads' : 'New referrals, leads'} and conversions of the last ${days.length} days`;
  const chart = plot({
    id: 'funnel-chart',
    title,
    description: `${shown.length} lines over ${counted(days.length, 'day')} up to ${days.at(-1)?.day ?? 'today'}. The most of one kind on one day is ${formatCount(most)}.`,
    box,
    drawing: [
      drawScale(height, box, (value) => (Number.isInteger(value) ? spellCompact(value) : '')),
      lines,
      drawLabels(
        days.map(({ day }) => day),
        box,
        place,
      ),
    ],
    key: shown.map(({ label, className }) => ({
      label,
      sign: html`<line class="${className}" x1="0" x2="22" y1="6" y2="${at(6)}"/>`,
    })),
    figures: table(title, rows, [
      column('day', ({ day }) => day),
      ...shown.map(({ name, label }) => numbers<FunnelDay>(label, (day) => formatCount(day[name]))),
    ]),
  });
  const earlier = rows.filter(({ day }) => day === 'earlier');
  return html`${chart}${earlier.map((sums) =>
    sayBeyond(
      'Earlier',
      shown.flatMap(({ name, label }) => (sums[name] === 0 ? [] : [counted(sums[name], label.slice(0, -1))])),
    ),
  )}`;
}
