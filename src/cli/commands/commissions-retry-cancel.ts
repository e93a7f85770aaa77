// The commands `retry` and `cancel` of `commissions` and `payouts`.

import type { Command } from 'commander';
import { formatCount } from '../../contract/format.ts';
import { cancelUpdates, type Revised, retryUpdates } from '../../payments/ask/revise-updates.ts';
import { findSelected } from '../../payments/select-requests.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { nameUser } from '../name-user.ts';
import { print, printError } from '../output/print.ts';
import { countStates, describeCounts, hasBadEnd } from '../payments/listings.ts';
import { openConnected, openPaymentLedger } from '../payments/session.ts';
import { waitFor } from '../payments/wait.ts';

export const command: CommandFile = {
  register,
};

function register(group: Command, cli: Cli): void {
  const name = group.name();
  const isOfPayouts = name === 'payouts';
  const whatIs = `a batch, the number of a request, or the identifier of a ${isOfPayouts ? 'payout' : 'commission'}`;
  const [again, next] = isOfPayouts
    ? ['pay --again', 'payouts pay --wait']
    : ['apply --again', 'pay, unpay, due or apply --wait'];
  group
    .command('retry')
    .description('have requests that ended as failed tried again')
    .argument('[what]', `${whatIs}; without it, all that failed, of commissions and payouts`)
    .option('--wait', 'apply them here and now, and end when all have ended')
    .addHelpText(
      'after',
      `\nOther states stay: ask anew for requests that ended as conflict, rejected or not_found (${again}). If nothing failed, --wait waits for nothing: a worker applies the waiting requests, or the next ${next}.`,
    )
    .action((what: string | undefined, flags: { wait?: true }) =>
      cli.run(async (lifetime) => {
        const connected = flags.wait === true ? await openConnected(cli, lifetime) : null;
        const { db } = connected ?? (await openPaymentLedger(cli, lifetime));
        const selected = what === undefined ? null : await findSelected(db, what, name);
        const revised = await retryUpdates(db, selected?.selection ?? { kind: 'all' }, lifetime.signal);
        report(revised, 'will be tried again');
        if (isNothing(revised) && selected !== null) {
          const counts = countStates(selected.lines);
          printError(`none of them ended as failed: ${describeCounts(counts)}`);
          return hasBadEnd(counts) ? 3 : 0;
        }
        if (connected === null || revised.ids.length === 0) return revised.left.length > 0 ? 3 : 0;
        const counts = await waitFor(
          connected,
          revised.ids,
          what === undefined ? null : { name: what, group: name },
        );
        printError(describeCounts(counts));
        return hasBadEnd(counts) || revised.left.length > 0 ? 3 : 0;
      }),
    );
  group
    .command('cancel')
    .description('take back requests that still wait')
    .argument('<what>', whatIs)
    .addHelpText('after', '\nExit code 3: some may have reached the API, or none waits any more.')
    .action((what: string) =>
      cli.run(async (lifetime) => {
        const { db } = await openPaymentLedger(cli, lifetime);
        const { selection, lines } = await findSelected(db, what, name);
        const revised = await cancelUpdates(db, selection, nameUser());
        report(revised, 'cancelled');
        if (!isNothing(revised)) return revised.left.length > 0 ? 3 : 0;
        printError(`none of them waits any more: ${describeCounts(countStates(lines))}`);
        return lines.every(({ state }) => state === 'cancelled') ? 0 : 3;
      }),
    );
}

function isNothing({ ids, left }: Revised): boolean {
  return ids.length === 0 && left.length === 0;
}

function report({ ids, left }: Revised, done: string): void {
  print(`${formatCount(ids.length)} ${done}`);
  for (const { id, reason } of left) printError(`request ${id} was left alone: ${reason}`);
}
