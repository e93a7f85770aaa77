// The section of what was paid in a month, by currency and affiliate.

import { formatCount } from '../../contract/format.ts';
import { displayZone } from '../../contract/time-zone.ts';
import { readMemoized } from '../../reports/figure.ts';
import { addMonths, readPaid, spanOfMonth, thisMonth } from '../../reports/read-paid.ts';
import { command } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { describeAffiliate } from '../payment-words.ts';
import { withQuery } from '../query.ts';
import { tableSection } from '../section.ts';
import { column, numbers } from '../table.ts';
import type { ViewDeps, ViewRequest } from '../view.ts';

const MOST_LINES = 200;

export async function paidSection(deps: ViewDeps, request: ViewRequest): Promise<Html> {
  const { href, query, mayReadPeople } = request;
  const present = thisMonth();
  const asked = query['month'] ?? '';
  const month = /^20\d\d-(0[1-9]|1[0-2])$/.test(asked) ? asked : present;
  const figure = await readPaid(
    deps,
    { ...spanOfMonth(month), isFull: mayReadPeople, most: MOST_LINES },
    readMemoized,
  );
  const others = [addMonths(month, -1), ...(month < present ? [addMonths(month, 1)] : [])];
  const links = others.map(
    (other) => html`<li><a href="${href(withQuery('/payments', { month: other }))}#paid">${other}</a></li>\n`,
  );
  const months = html`<ul class="ranges" aria-label="Other months">${links}</ul>`;
  return tableSection(
    figure,
    {
      id: 'paid',
      title: `Paid in ${month} (${displayZone()})`,
      caption: 'Sums of what was paid, by currency and affiliate',
      none: html`<p>The mirror has no commission as paid in this month.</p>${months}`,
      note: html`${months}
${figure.rows.length === MOST_LINES && html`<p class="quiet">The first ${MOST_LINES} lines; all: ${command(request, `commissions paid --month ${month}`)}.</p>`}`,
    },
    [
      column('currency', ({ currency }) => currency ?? 'not known'),
      column('affiliate', (line) => (line.is_total ? 'all' : describeAffiliate(line, href))),
      numbers('commissions', ({ commissions }) => formatCount(commissions)),
      numbers('paid', ({ amount, currency }) => deps.money.format(BigInt(amount), currency)),
    ],
  );
}
