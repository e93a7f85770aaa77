// Every view of the site, in the order of its navigation. Imported with the first request for a view.

import type { View } from './view.ts';
import { batchView } from './views/batch.ts';
import { chartsView } from './views/charts.ts';
import { dataView } from './views/data.ts';
import { ledgerView } from './views/ledger.ts';
import { overviewView } from './views/overview.ts';
import { paymentView } from './views/payment.ts';
import { paymentsView } from './views/payments.ts';
import { payoutView } from './views/payout.ts';
import { runView } from './views/run.ts';
import { runsView } from './views/runs.ts';

export const VIEWS: readonly View[] = [
  overviewView,
  runsView,
  runView,
  paymentsView,
  ledgerView,
  paymentView,
  batchView,
  payoutView,
  dataView,
  chartsView,
];
