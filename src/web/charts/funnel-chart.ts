// New referrals, leads and conversions of each day, as three lines that differ in how they are drawn.

import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { counted, formatCount } from '../../contract/format.ts';
import type { FunnelDay } from '../../reports/read-series.ts';
import { type Html, html } from '../html.ts';
import { column, numbers, table } from '../table.ts';
import { at, drawLabels, drawScale, plot, scaleHeight, spellCompact, WIDE } from './plot.ts';

const LINES = [
  { name: 'new_referrals', label: 'new referrals', className: 'line-third' },
  { name: 'leads', label: 'leads', className: 'line-first' },
  { name: 'conversions', label: 'conversions', className: 'line-second' },
] as const;

/** Returns the chart. The days follow each other. */
export function drawFunnel(days: readonly FunnelDay[]): Html {
  const box = WIDE;
  const most = Math.max(1, ...days.flatMap((day) => LINES.map(({ name }) => day[name])));
  const height = scaleHeight(box, [most]);
  const place = scaleLinear()
    .domain([0, Math.max(1, days.length - 1)])
    .range([box.left, box.width - box.right]);
  const lines = LINES.map(({ name, className }) => {
    const path = line<FunnelDay>()
      .digits(1)
      .x((_, index) => place(index))
      .y((day) => height(day[name]));
    return html`<path class="${className}" d="${path(days) ?? ''}"/>\n`;
  });
  const title = `New referrals, leads and conversions of the last ${days.length} days`;
  return plot({
    id: 'funnel-chart',
    title,
    description: `Three lines over ${counted(days.length, 'day')} up to ${days.at(-1)?.day ?? 'today'}. The most of one kind on one day is ${formatCount(most)}.`,
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
    key: LINES.map(({ label, className }) => ({
      label,
      sign: html`<line class="${className}" x1="0" x2="22" y1="6" y2="${at(6)}"/>`,
    })),
    figures: table(title, days, [
      column('day', ({ day }) => day),
      ...LINES.map(({ name, label }) => numbers<FunnelDay>(label, (day) => formatCount(day[name]))),
    ]),
  });
}
