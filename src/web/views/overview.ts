// The first view: verdict, charts of the last days, payments, request budget, runs, freshness, schedules and alerts.

import { readNow } from '../../db/clock.ts';
import { readMemoized } from '../../reports/figure.ts';
import { findConcerns } from '../../reports/find-concerns.ts';
import { readNextPoll, readPending, readPermitUse, readRunning } from '../../reports/read-activity.ts';
import { readAlerts } from '../../reports/read-alerts.ts';
import { readMemoizedGrowth } from '../../reports/read-growth.ts';
import { readHealth } from '../../reports/read-health.ts';
import { readPaymentStates } from '../../reports/read-payments.ts';
import { readRunSeries } from '../../reports/read-runs.ts';
import { readFunnel } from '../../reports/read-series.ts';
import { drawFunnel } from '../charts/funnel-chart.ts';
import { drawRuns } from '../charts/run-chart.ts';
import { drawStates } from '../charts/state-chart.ts';
import { html } from '../html.ts';
import { showAlerts } from '../overview/alerts.ts';
import { showBudget } from '../overview/budget.ts';
import { showFreshness } from '../overview/freshness.ts';
import { showRunning } from '../overview/running.ts';
import { showUpcoming } from '../overview/upcoming.ts';
import { showVerdict } from '../overview/verdict.ts';
import { section } from '../section.ts';
import type { View } from '../view.ts';

const RESOLVED_SHOWN = 5;
const DAYS_SHOWN = 30;

export const overviewView: View = {
  path: '/',
  label: 'Overview',
  async read(deps, request) {
    const { href, program } = request;
    const { maxAgeSeconds, rateLimit, findNext } = deps;
    const shown = await readHealth(deps, readMemoized);
    const { health, sql } = shown;
    const now = await readNow(deps.db);
    const pending = await readPending(deps);
    const { growth } = await readMemoizedGrowth(deps);
    const concerns = findConcerns(health, { maxAgeSeconds, growth, program });
    const running = await readRunning(deps);
    const uses = await readPermitUse(deps);
    const upcoming = {
      now,
      scheduled: findNext(Date.parse(now)),
      nextPoll: await readNextPoll(deps),
      nextTry: pending.rows[0]?.next_attempt_at ?? null,
    };
    const funnel = await readFunnel(deps, DAYS_SHOWN);
    const states = await readPaymentStates(deps, readMemoized);
    const runs = await readRunSeries(deps, { resource: null, state: null });
    return {
      title: concerns.length === 0 ? 'All is well' : 'Not well',
      body: html`${showVerdict(shown, concerns, request)}
<div class="grid">
${section({
  id: 'funnel',
  title: 'Leads and conversions',
  link: href('/charts'),
  figure: funnel,
  body: drawFunnel(funnel.rows, { isSmall: true }),
})}
<div>
${section({
  id: 'payments',
  title: 'Payments',
  link: href('/payments'),
  figure: states,
  body: states.rows.length === 0 ? html`<p>Nothing was asked for yet.</p>` : drawStates(states.rows),
})}
${showBudget({ budget: health.budget, sql: sql.usage, uses, rateLimit })}
</div>
</div>
${section({
  id: 'last-runs',
  title: 'The last runs',
  link: href('/runs'),
  figure: runs,
  body: runs.rows.length === 0 ? html`<p>Nothing was synced yet.</p>` : drawRuns(runs.rows),
})}
${showRunning(href, running, pending)}
${showFreshness(shown, maxAgeSeconds)}
${showUpcoming(upcoming)}
${showAlerts(await readAlerts(deps, RESOLVED_SHOWN))}`,
    };
  },
};
