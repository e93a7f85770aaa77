// The command group `commissions`: every change of the affiliate program, and its outcome.

import type { CommandFile } from '../cli.ts';
import { command as apply } from './commissions-apply.ts';
import { command as paid } from './commissions-paid.ts';
import { command as payable } from './commissions-payable.ts';
import { command as reconcile } from './commissions-reconcile.ts';
import { command as request } from './commissions-request.ts';
import { command as revise } from './commissions-retry-cancel.ts';
import { command as status } from './commissions-status.ts';
import { command as template } from './commissions-template.ts';
import { command as track } from './commissions-track.ts';

/** In the order of --help. */
const PARTS: readonly CommandFile[] = [
  request,
  payable,
  template,
  apply,
  paid,
  reconcile,
  status,
  revise,
  track,
];

const HELP = `
Every change is written to the payment ledger (the table commission_updates) first. A running worker applies it, or the
command itself with --wait. Each request ends in one state:
  applied      the API has it as asked
  unchanged    it was so already; nothing was sent
  conflict     an expectation did not hold; nothing more was sent
  not_found    the API has no such commission
  rejected     the API refused it, or the commission is voided
  failed       tried often enough without success: "commissions retry" tries again
  superseded, cancelled

Examples:
  $ affiliate-mirror commissions payable
  $ affiliate-mirror commissions template > payouts.csv
  $ affiliate-mirror commissions apply payouts.csv --dry-run
  $ affiliate-mirror commissions apply payouts.csv --wait
  $ affiliate-mirror commissions status
  $ affiliate-mirror commissions paid

Exit code 3: a request ended as conflict, not_found, rejected or failed; with --wait also as superseded or cancelled.`;

export const command: CommandFile = {
  connections: { pool: 8 },
  documents: Object.assign({}, ...PARTS.map(({ documents }) => documents)),
  register(root, cli) {
    const group = root
      .command('commissions')
      .description('mark commissions paid, unpaid or due in the affiliate program; see the outcomes')
      .addHelpText('after', HELP);
    for (const { register } of PARTS) register(group, cli);
  },
};
