// The command `commissions template`: an empty payout file.

import type { Command } from 'commander';
import type { Cli, CommandFile } from '../cli.ts';
import {
  addPayoutFileFlags,
  openPayoutFile,
  type PayoutFileFlags,
  payoutColumns,
} from '../payments/payout-file.ts';

const HELP = `
Columns (all but the first two may stay blank, or be deleted):
  commission_id      the commission
  action             pay (needs paid_at), unpay (takes a payment back), or due (needs due_at)
  paid_at            when it was paid
  due_at             from when it is payable
  expected_paid_at   unpaid, or the timestamp that the API must have
  expected_amount    its amount: 49.90, or 4990 in minor units; in a workbook expected_amount_major, 49.90
  expected_currency  its currency, such as EUR
  even_if_refunded   true pays it although its sale was refunded in full
  reason             yours; kept in the payment ledger
  idempotency_key    names the request for good

"commissions payable" makes one with a row for each commission that is to be paid.

Examples:
  $ affiliate-mirror commissions template > payouts.csv
  $ affiliate-mirror commissions apply payouts.csv --dry-run`;

export const command: CommandFile = {
  register,
};

function register(group: Command, cli: Cli): void {
  const command = group.command('template').description('an empty payout file to fill in');
  addPayoutFileFlags(command, {
    format: 'default: as -o ends, else csv',
    output: 'write it to a new file instead of stdout',
  })
    .addHelpText('after', HELP)
    .action((flags: PayoutFileFlags) =>
      cli.run(async (lifetime) => {
        const write = await openPayoutFile(flags, lifetime, true);
        await write((format) => ({ header: payoutColumns(format), rows: [] }));
        return 0;
      }),
    );
}
