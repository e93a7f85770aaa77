// The request budget as a gauge: how much of it is used, and by what.

import type { RateLimit } from '../../config/program/rate-limit.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { Figure } from '../../reports/figure.ts';
import type { PermitUse } from '../../reports/read-activity.ts';
import type { BudgetStatus } from '../../reports/read-health.ts';
import { type BarPart, bar } from '../bar.ts';
import { durationOf, momentOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';

export interface BudgetFacts {
  readonly budget: BudgetStatus;
  /** The statement that read `budget`. */
  readonly sql: string;
  readonly uses: Figure<PermitUse>;
  readonly rateLimit: RateLimit;
}

export function showBudget(facts: BudgetFacts): Html {
  const { budget, sql, uses, rateLimit } = facts;
  return section({
    id: 'budget',
    title: 'Request budget',
    figure: { ...uses, sql: `${uses.sql}\n\n${sql}` },
    body: html`${rateLimit === null ? html`<p>This process has no limit.</p>` : showGauge(facts, rateLimit)}
${budget.paused_until !== null && html`<p class="warn">Paused until ${momentOf(budget.paused_until)}, as the API asked; requests then resume.</p>`}
<p class="quiet">${
      budget.last_throttled_at === null
        ? 'The API never answered “too many requests” (429).'
        : html`The API last answered “too many requests” (429) at ${momentOf(budget.last_throttled_at)}.`
    }</p>`,
  });
}

function showGauge({ budget, uses }: BudgetFacts, rateLimit: NonNullable<RateLimit>): Html {
  const most = Math.min(rateLimit.requests, budget.limit_requests ?? rateLimit.requests);
  const kinds = USERS.map((user) => {
    const use = uses.rows.find(({ priority }) => priority === user.priority);
    const foreign = user.priority === null ? budget.foreign_requests : 0;
    return { ...user, requests: use?.requests ?? foreign, inFlight: use?.in_flight ?? 0 };
  });
  const used = kinds.reduce((sum, { requests }) => sum + requests, 0);
  const words = `${formatCount(used)} of ${counted(most, 'request')} used`;
  return html`<p class="split"><strong>${words}</strong>
<span class="quiet">in any ${durationOf(rateLimit.windowSeconds)}</span></p>
${bar(`${words}: ${kinds.map(({ name, requests }) => `${name} ${requests}`).join(', ')}`, most, kinds.map(partOf))}
<ul class="key">${kinds.map(
    ({ name, fill, requests, inFlight }) =>
      html`<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="${fill}" width="10" height="10" rx="2"/></svg>${name} ${formatCount(requests)}${inFlight > 0 && html` <span class="quiet">(${formatCount(inFlight)} in flight)</span>`}</li>
`,
  )}</ul>
${budget.limit_requests !== null && html`<p class="quiet">The API names a limit of ${formatCount(budget.limit_requests)}.</p>`}`;
}

function partOf({ requests, fill }: { requests: number; fill: BarPart['fill'] }): BarPart {
  return { amount: requests, fill };
}

/** Other users of the account take no permits here: their use follows from the headers of answers. */
const USERS = [
  { priority: 'reads', name: 'Syncs and polls', fill: 'fill-mark' },
  { priority: 'payments', name: 'Payments', fill: 'fill-second' },
  { priority: null, name: 'Others on the account', fill: 'fill-third' },
] as const;
