// The first page: is all well, how fresh is the mirror, what runs, what comes next, what the budget is used for, and
// who was notified of what.

import type { RateLimit } from '../../config/rate-limit.ts';
import { readNow } from '../../db/clock.ts';
import { readMemoized } from '../../reports/figure.ts';
import { findConcerns } from '../../reports/find-concerns.ts';
import { readNextPoll, readPending, readPermitUse, readRunning } from '../../reports/read-activity.ts';
import { readAlerts } from '../../reports/read-alerts.ts';
import { readMemoizedGrowth } from '../../reports/read-growth.ts';
import { readHealth } from '../../reports/read-health.ts';
import { html } from '../html.ts';
import { showAlerts } from '../overview/alerts.ts';
import { showBudget } from '../overview/budget.ts';
import { showFreshness } from '../overview/freshness.ts';
import { showRunning } from '../overview/running.ts';
import { showUpcoming } from '../overview/upcoming.ts';
import { showVerdict } from '../overview/verdict.ts';
import type { Page } from '../page.ts';
import type { Upcoming } from '../upcoming.ts';

/** What the page shows of the configuration: nothing of it is in the database. */
export interface OverviewFacts {
  readonly rateLimit: RateLimit;
  /** Returns what this process will do by itself after a moment, the next of each kind. */
  readonly findNext: (nowMs: number) => readonly Upcoming[];
}

const RESOLVED_SHOWN = 5;

/** Returns the page. */
export function makeOverviewPage({ rateLimit, findNext }: OverviewFacts): Page {
  return {
    path: '/',
    label: 'Overview',
    async read(deps, { href, mayReadPeople }) {
      const { maxAgeSeconds } = deps;
      const shown = await readHealth(deps, readMemoized);
      const { health, sql } = shown;
      const now = await readNow(deps.db);
      const pending = await readPending(deps);
      const { growth } = await readMemoizedGrowth(deps);
      const concerns = findConcerns(health, { maxAgeSeconds, growth });
      const running = await readRunning(deps);
      const uses = await readPermitUse(deps);
      const upcoming = {
        now,
        scheduled: findNext(Date.parse(now)),
        nextPoll: await readNextPoll(deps),
        nextTry: pending.rows[0]?.next_attempt_at ?? null,
      };
      return {
        title: concerns.length === 0 ? 'All is well' : 'Not well',
        body: html`${showVerdict(shown, concerns, mayReadPeople)}
<div class="grid">
${showRunning(href, running, pending)}
${showBudget({ budget: health.budget, sql: sql.usage, uses, rateLimit })}
</div>
${showFreshness(shown, maxAgeSeconds)}
${showUpcoming(upcoming)}
${showAlerts(await readAlerts(deps, RESOLVED_SHOWN))}`,
      };
    },
  };
}
