// The commands `commissions status` and `payouts status`: the outcomes of requests.

import type { Command } from 'commander';
import { formatTimestamp } from '../../contract/format.ts';
import { findSelected } from '../../payments/select-requests.ts';
import { type Batch, batch, readLastBatches } from '../../reports/read-batches.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { type BatchesDocument, batchesDocument, type SelectedDocument } from '../documents/commissions.ts';
import { addOutputFlags, type Listing, type OutputFlags, printListing } from '../output/format.ts';
import { printError } from '../output/print.ts';
import { countStates, describeCounts, hasBadEnd, paymentListing } from '../payments/listings.ts';
import { openPaymentLedger } from '../payments/session.ts';

const MOST_BATCHES = 20;

const help = (group: string) => `
Examples:
  the last batches:
  $ affiliate-mirror ${group} status
  one batch, row by row:
  $ affiliate-mirror ${group} status 20261001-120000-november.csv-1f3a
  one request:
  $ affiliate-mirror ${group} status 4711
  everything asked for a ${group.slice(0, -1)}:
  $ affiliate-mirror ${group} status 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11

In SQL: select * from commission_ledger, and every HTTP request in
commission_update_attempts.`;

export const command: CommandFile = {
  register,
  documents: { 'commissions-batches': batchesDocument },
};

function register(group: Command, cli: Cli): void {
  const subject = group.name().slice(0, -1);
  addOutputFlags(
    group
      .command('status')
      .description(`the outcomes of a batch, a request or a ${subject}`)
      .argument('[what]', `a batch, the number of a request, or the identifier of a ${subject}`),
  )
    .addHelpText('after', help(group.name()))
    .action((what: string | undefined, flags: OutputFlags) =>
      cli.run(async (lifetime) => {
        const program = await openPaymentLedger(cli, lifetime, { endsAtOnce: true });
        if (what === undefined) {
          const batches = await readLastBatches(program, MOST_BATCHES);
          printListing(batchListing(batches), flags);
          if (batches.length === 0) printError('nothing was asked for yet');
          return 0;
        }
        const { lines } = await findSelected(program.db, what, group.name());
        const counts = countStates(lines);
        const documentOf = (requests: object[]): SelectedDocument => ({ counts, requests });
        printListing(paymentListing(lines, program.money, documentOf), flags);
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
