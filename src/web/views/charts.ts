// Referrals, leads and conversions by day, and commissions by the month of their due date.

import { readDueMonths, readFunnel } from '../../reports/read-series.ts';
import { drawDueMonths } from '../charts/due-chart.ts';
import { drawFunnel } from '../charts/funnel-chart.ts';
import { type Html, html } from '../html.ts';
import { withQuery } from '../query.ts';
import { section } from '../section.ts';
import type { View, ViewDeps, ViewRequest } from '../view.ts';

const RANGES = [
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: 365, label: '1 year' },
] as const;

export const chartsView: View = {
  path: '/charts',
  label: 'Charts',
  async read(deps, request) {
    const { days } = RANGES.find((range) => String(range.days) === request.query['days']) ?? RANGES[0];
    return {
      title: 'Charts',
      body: html`<h1>Charts</h1>
${await funnelSection(deps, request, days)}
${await dueSection(deps)}`,
    };
  },
};

async function funnelSection(deps: ViewDeps, { href }: ViewRequest, days: number): Promise<Html> {
  const figure = await readFunnel(deps, days);
  const { rows } = figure;
  const hasAny = rows.some((day) => day.new_referrals + day.leads + day.conversions > 0);
  const links = RANGES.map(
    (range) =>
      html`<li><a href="${href(withQuery('/charts', { days: range.days }))}"${range.days === days && html` aria-current="true"`}>${range.label}</a></li>\n`,
  );
  return section({
    id: 'funnel',
    title: 'Leads and conversions by day',
    figure,
    body: html`<ul class="ranges" aria-label="How far back">${links}</ul>
${hasAny ? drawFunnel(rows) : html`<p>The mirror has no referral, lead or conversion.</p>`}
<p class="quiet">Days of UTC. A lead or a conversion counts on the day that the API names, else on the day on which the mirror first saw it.</p>`,
  });
}

async function dueSection(deps: ViewDeps): Promise<Html> {
  const figure = await readDueMonths(deps);
  const charts = [];
  for (const [place, [currency, months]] of [...Map.groupBy(figure.rows, (row) => row.currency)].entries()) {
    charts.push(drawDueMonths(months, { id: `due-${place}`, currency, money: deps.money }));
  }
  return section({
    id: 'due',
    title: 'Commissions by the month in which they are due',
    figure,
    body:
      charts.length === 0
        ? html`<p>The mirror has no commission that was or will be due.</p>`
        : html`${charts}
<p class="quiet">From eleven months ago to three months ahead; each earlier and later month is in the view <code>commission_aging</code>. Overdue: payable for more than 30 days. Withheld: due, but not payable now, because a request is pending, a payment failed, the payment ledger has it as paid, its sale was refunded in full, or it has no currency.</p>`,
  });
}
