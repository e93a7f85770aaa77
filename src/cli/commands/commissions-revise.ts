// The commands `commissions retry` and `commissions cancel`.

import type { Command } from 'commander';
import { cancelUpdates, type Revised, retryUpdates } from '../../commissions/requests/revise-updates.ts';
import { formatCount } from '../../contract/format.ts';
import type { Cli } from '../cli.ts';
import { countStates, describeCounts, hasBadEnd } from '../commissions/listings.ts';
import { findSelected } from '../commissions/selection.ts';
import { openPaymentLedger, openProgram } from '../commissions/session.ts';
import { waitFor } from '../commissions/wait.ts';
import type { RevisedDocument } from '../documents/commissions.ts';
import { nameUser } from '../name-user.ts';
import { print, printError, printJson } from '../output/print.ts';

interface ReviseFlags {
  readonly json?: true;
  readonly wait?: true;
}

const WHAT = 'a batch, the number of a request, or the identifier of a commission';

export function registerRevise(group: Command, cli: Cli): void {
  group
    .command('retry')
    .description('have requests that ended as failed tried again')
    .argument('[what]', `${WHAT}; everything that failed where left out`)
    .option('--wait', 'apply them here and now, and end when all have ended')
    .option('--json', 'print the result as one JSON document')
    .addHelpText(
      'after',
      '\nOther states stay: what ended as conflict, rejected or not_found is asked for\nanew (apply --again). Where nothing failed, --wait has nothing to wait for: what\nwaits is applied by a worker, or by the next pay, unpay, due or apply --wait.',
    )
    .action((what: string | undefined, flags: ReviseFlags) =>
      cli.run(async (lifetime) => {
        const program = flags.wait === true ? await openProgram(cli, lifetime) : null;
        const session = program ?? (await openPaymentLedger(cli, lifetime));
        const selected = what === undefined ? null : await findSelected(session.db, what);
        const revised = await retryUpdates(
          session.db,
          selected?.selection ?? { kind: 'all' },
          lifetime.signal,
        );
        report(revised, 'will be tried again', flags);
        if (isNothing(revised) && selected !== null) {
          const counts = countStates(selected.lines);
          printError(`none of them ended as failed: ${describeCounts(counts)}`);
          return hasBadEnd(counts) ? 3 : 0;
        }
        if (program === null || revised.ids.length === 0) return revised.left.length > 0 ? 3 : 0;
        const counts = await waitFor(program, revised.ids, what ?? null);
        printError(describeCounts(counts));
        return hasBadEnd(counts) || revised.left.length > 0 ? 3 : 0;
      }),
    );
  group
    .command('cancel')
    .description('take back requests that still wait')
    .argument('<what>', WHAT)
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', '\nExit code 3: some may have reached the program, or none waits any more.')
    .action((what: string, flags: ReviseFlags) =>
      cli.run(async (lifetime) => {
        const { db } = await openPaymentLedger(cli, lifetime);
        const { selection, lines } = await findSelected(db, what);
        const revised = await cancelUpdates(db, selection, nameUser());
        report(revised, 'cancelled', flags);
        if (!isNothing(revised)) return revised.left.length > 0 ? 3 : 0;
        printError(`none of them waits any more: ${describeCounts(countStates(lines))}`);
        return lines.every(({ state }) => state === 'cancelled') ? 0 : 3;
      }),
    );
}

function isNothing({ ids, left }: Revised): boolean {
  return ids.length === 0 && left.length === 0;
}

function report({ ids, left }: Revised, done: string, flags: ReviseFlags): void {
  if (flags.json === true) printJson({ requests: ids, left } satisfies RevisedDocument);
  else print(`${formatCount(ids.length)} ${done}`);
  for (const { id, reason } of left) printError(`request ${id} was left alone: ${reason}`);
}
