// The commissions of one currency by the month in which they are due: a bar for each month, in parts by their state.

import { scaleBand } from 'd3-scale';
import { stack, stackOffsetDiverging } from 'd3-shape';
import { formatCount } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import type { DueMonth } from '../../reports/read-series.ts';
import { sumOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { column, numbers, table } from '../table.ts';
import { at, drawLabels, drawScale, plot, sayBeyond, scaleHeight, spellCompact, WIDE } from './plot.ts';

/** From the bottom of a bar to its top. */
const PARTS = ['paid', 'due', 'overdue', 'withheld', 'pending'] as const;

/**
 * `rows` are months in order, each once, between all that is earlier and all that is later, which is said below the
 * chart. A sum that no number could hold is not drawn, but named there too.
 */
export function drawDueMonths(
  rows: readonly DueMonth[],
  { id, currency, money }: { id: string; currency: string | null; money: MoneyFormat },
): Html {
  const months = rows.filter(({ month }) => month !== 'earlier' && month !== 'later');
  const box = WIDE;
  const parts = stack<DueMonth, (typeof PARTS)[number]>()
    .keys(PARTS)
    .value((month, part) => month[part] ?? 0)
    .offset(stackOffsetDiverging)([...months]);
  const ends = parts.flatMap((part) => part.flat());
  const height = scaleHeight(box, ends);
  const place = scaleBand()
    .domain(months.map(({ month }) => month))
    .range([box.left, box.width - box.right])
    .padding(0.25);
  const width = Math.min(place.bandwidth(), 48);
  const center = (index: number) => (place(months[index]?.month ?? '') ?? 0) + place.bandwidth() / 2;
  const amountOf = (sum: number | null) => sumOf(sum, currency, money);
  const bars = months.map((month, index) => {
    const drawn = parts.map((part) => {
      const [from = 0, to = 0] = part[index] ?? [];
      const size = height(from) - height(to);
      return (
        size > 0 &&
        html`<rect class="part part-${part.key}" x="${at(center(index) - width / 2)}" y="${at(height(to))}" width="${at(width)}" height="${at(size)}"><title>${`${month.month}, ${part.key}: ${amountOf(month[part.key])}`}</title></rect>`
      );
    });
    return html`<g class="month">${drawn}</g>\n`;
  });
  // The scale is in the currency's own unit.
  const divisor = 10 ** money.digitsOf(currency ?? '');
  const title = `Commissions in ${currency ?? 'no currency'} by the month in which they are due`;
  const chart = plot({
    id,
    title,
    description: `A bar for each of ${months.length} months from ${months[0]?.month ?? ''} to ${months.at(-1)?.month ?? ''}, in parts: paid, due for 30 days at most, overdue, withheld, and pending.`,
    box,
    drawing: [
      drawScale(height, box, (value) => spellCompact(value / divisor)),
      bars,
      drawLabels(
        months.map(({ month }) => month),
        box,
        center,
      ),
    ],
    key: PARTS.map((part) => ({
      label: part,
      sign: html`<rect class="part part-${part}" x="4" y="0" width="14" height="12"/>`,
    })),
    figures: table(title, rows, [
      column('month', ({ month }) => month),
      numbers('commissions', ({ commissions }) => formatCount(commissions)),
      ...PARTS.map((part) => numbers<DueMonth>(part, (month) => amountOf(month[part]))),
    ]),
  });
  const beyond = (when: 'Earlier' | 'Later') =>
    rows
      .filter(({ month }) => month === when.toLowerCase())
      .map((sums) =>
        sayBeyond(
          when,
          PARTS.flatMap((part) => (sums[part] === 0 ? [] : [`${amountOf(sums[part])} ${part}`])),
        ),
      );
  return html`${chart}
${beyond('Earlier')}${beyond('Later')}${nameTooLarge(months)}`;
}

function nameTooLarge(months: readonly DueMonth[]): Html | null {
  const named = months.flatMap((month) => {
    const parts = PARTS.filter((part) => month[part] === null);
    return parts.length === 0 ? [] : [`${month.month} (${parts.join(', ')})`];
  });
  return named.length === 0 ? null : html`<p>Sums that are too large to be drawn: ${named.join('; ')}.</p>`;
}
