// The command group `commissions`: everything that changes the program, or says what became of it.

import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { registerApply } from './commissions-apply.ts';
import { registerPayable } from './commissions-payable.ts';
import { registerReconcile } from './commissions-reconcile.ts';
import { registerRequests } from './commissions-request.ts';
import { registerRevise } from './commissions-revise.ts';
import { registerStatusOfPayments } from './commissions-status.ts';
import { registerTemplate } from './commissions-template.ts';
import { registerTrack } from './commissions-track.ts';

const HELP = `
Every change is written to the payment ledger (the table commission_updates)
first, and then carried out by a running worker, or by the command itself with
--wait. Each request ends in one state:
  applied      the program has it as asked
  unchanged    it was so already; nothing was sent
  conflict     what was expected did not hold; nothing more was sent
  not_found    the program has no such commission
  rejected     the program refused it, or the commission is voided
  failed       tried often enough without success: "commissions retry" tries
               again
  superseded, cancelled

Examples:
  $ affiliate-mirror commissions payable
  $ affiliate-mirror commissions template > payouts.csv
  $ affiliate-mirror commissions apply payouts.csv --dry-run
  $ affiliate-mirror commissions apply payouts.csv --wait
  $ affiliate-mirror commissions status

Exit code 3: a request ended as conflict, not_found, rejected or failed; with --wait also as superseded or cancelled.`;

export function registerCommissions(root: Command, cli: Cli): void {
  const group = root
    .command('commissions')
    .description('mark commissions paid, unpaid or due in the program; see what became of it')
    .addHelpText('after', HELP);
  for (const register of [
    registerRequests,
    registerPayable,
    registerTemplate,
    registerApply,
    registerReconcile,
    registerStatusOfPayments,
    registerRevise,
    registerTrack,
  ]) {
    register(group, cli);
  }
}
