// The command `commissions status`: what became of requests.

import type { Command } from 'commander';
import { formatTimestamp } from '../../contract/format.ts';
import { type Batch, batch, readLastBatches } from '../../reports/read-batches.ts';
import type { Cli } from '../cli.ts';
import { countStates, describeCounts, hasBadEnd, paymentListing } from '../commissions/listings.ts';
import { findSelected } from '../commissions/selection.ts';
import { openPaymentLedger } from '../commissions/session.ts';
import type { BatchesDocument, SelectedDocument } from '../documents/commissions.ts';
import { addOutputFlags, type Listing, type OutputFlags, printListing } from '../output/format.ts';
import { printError } from '../output/print.ts';

const MOST_BATCHES = 20;

const HELP = `
Examples:
  the last batches:
  $ affiliate-mirror commissions status
  one batch, row by row:
  $ affiliate-mirror commissions status 20261001-120000-payouts.csv-1f3a
  one request:
  $ affiliate-mirror commissions status 4711
  everything asked for a commission:
  $ affiliate-mirror commissions status 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11

In SQL: select * from commission_ledger, and every HTTP request in
commission_update_attempts.`;

export function registerStatusOfPayments(group: Command, cli: Cli): void {
  addOutputFlags(
    group
      .command('status')
      .description('what became of a batch, a request or a commission')
      .argument('[what]', 'a batch, the number of a request, or the identifier of a commission'),
  )
    .addHelpText('after', HELP)
    .action((what: string | undefined, flags: OutputFlags) =>
      cli.run(async (lifetime) => {
        const { db, mirrorSchema, amountUnit } = await openPaymentLedger(cli, lifetime, { endsAtOnce: true });
        if (what === undefined) {
          const batches = await readLastBatches({ db, mirrorSchema }, MOST_BATCHES);
          printListing(batchListing(batches), flags);
          if (batches.length === 0) printError('nothing was asked for yet');
          return 0;
        }
        const { lines } = await findSelected(db, what);
        const counts = countStates(lines);
        const documentOf = (requests: object[]): SelectedDocument => ({ counts, requests });
        printListing(paymentListing(lines, amountUnit, documentOf), flags);
        printError(describeCounts(counts));
        return hasBadEnd(counts) ? 3 : 0;
      }),
    );
}

function batchListing(rows: readonly Batch[]): Listing<Batch> {
  return {
    rows,
    documentOf: () => ({ batches: rows }) satisfies BatchesDocument,
    table: {
      batch: ({ batch }) => batch ?? '(single requests)',
      requests: ({ requests }) => requests,
      states: ({ states }) => describeCounts(states),
      'asked by': ({ requested_by }) => requested_by,
      'asked at': ({ requested_at }) => formatTimestamp(requested_at),
      ended: ({ finished_at }) => (finished_at === null ? null : formatTimestamp(finished_at)),
    },
    fields: Object.keys(batch.shape),
    recordOf: (row) => ({ ...row, states: describeCounts(row.states) }),
  };
}
