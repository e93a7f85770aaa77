// Every page of the site, in the order of its navigation. Imported when somebody first looks.

import type { Page } from './page.ts';
import { batchPage } from './pages/batch.ts';
import { chartsPage } from './pages/charts.ts';
import { dataPage } from './pages/data.ts';
import { ledgerPage } from './pages/ledger.ts';
import { makeOverviewPage, type OverviewFacts } from './pages/overview.ts';
import { paymentPage } from './pages/payment.ts';
import { paymentsPage } from './pages/payments.ts';
import { runPage } from './pages/run.ts';
import { runsPage } from './pages/runs.ts';

/** Returns the pages. */
export function makePages(facts: OverviewFacts): readonly Page[] {
  return [makeOverviewPage(facts), ...READING_PAGES];
}

/** They show what is in the database, and nothing else. */
const READING_PAGES: readonly Page[] = [
  runsPage,
  runPage,
  paymentsPage,
  ledgerPage,
  paymentPage,
  batchPage,
  dataPage,
  chartsPage,
];
