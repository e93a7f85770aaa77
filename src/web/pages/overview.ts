// The first page: is all well, how fresh is the mirror, what runs, what comes next, and what the budget is used for.

import type { RateLimit } from '../../config/rate-limit.ts';
import { findConcerns } from '../../reports/find-concerns.ts';
import { readHealth } from '../../reports/read-health.ts';
import { html } from '../html.ts';
import { showFreshness } from '../overview/freshness.ts';
import { showVerdict } from '../overview/verdict.ts';
import type { Page } from '../page.ts';
import type { Upcoming } from '../upcoming.ts';

/** What the page shows of the configuration: nothing of it is in the database. */
export interface OverviewFacts {
  readonly rateLimit: RateLimit;
  /** Returns what this process will do by itself after a moment, the next of each kind. */
  readonly findNext: (nowMs: number) => readonly Upcoming[];
}

/** Returns the page. */
export function makeOverviewPage(_facts: OverviewFacts): Page {
  return {
    path: '/',
    label: 'Overview',
    async read({ db, maxAgeSeconds }) {
      const health = await readHealth(db);
      const concerns = findConcerns(health, { maxAgeSeconds });
      return { title: 'Overview', body: html`${showVerdict(concerns)}${showFreshness(health)}` };
    },
  };
}
