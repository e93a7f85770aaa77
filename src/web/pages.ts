// Every page of the site, in the order of its navigation. Imported when somebody first looks.

import type { Page } from './page.ts';
import { makeOverviewPage, type OverviewFacts } from './pages/overview.ts';

/** Returns the pages. */
export function makePages(facts: OverviewFacts): readonly Page[] {
  return [makeOverviewPage(facts)];
}
