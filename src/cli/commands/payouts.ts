// The command group `payouts`: the commissions of one affiliate, paid by one request.

import type { CommandFile } from '../cli.ts';
import { command as revise } from './commissions-retry-cancel.ts';
import { command as status } from './commissions-status.ts';
import { command as list } from './payouts-list.ts';
import { command as pay } from './payouts-pay.ts';

/** In the order of --help. Requests for payouts are in the payment ledger, and so are their status and their ends. */
const PARTS: readonly CommandFile[] = [list, pay, status, revise];

const HELP = `
A payout holds commissions of one affiliate in one currency. Every payment of one is written to the payment ledger first,
and ends in one state, as that of a commission does: see "commissions --help". While the API is paying it, the request
waits and the payout is read again.

Examples:
  $ affiliate-mirror payouts list -o november.csv
  $ affiliate-mirror payouts pay november.csv --dry-run
  $ affiliate-mirror payouts pay november.csv --wait`;

export const command: CommandFile = {
  connections: { pool: 8 },
  documents: list.documents ?? {},
  register(root, cli) {
    const group = root
      .command('payouts')
      .description('pay all commissions of a payout by one request; see the outcomes')
      .addHelpText('after', HELP);
    for (const { register } of PARTS) register(group, cli);
  },
};
