// The command group `personal-data`: changes the mode in which the mirror keeps personal data.

import type { Command } from 'commander';
import { vacuum } from '../../mirror/people/rewriting.ts';
import { type Switched, switchMode } from '../../mirror/people/switch-mode.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { print, printError } from '../output/print.ts';
import { describeRewritten, openRewriting, rewrite, rewrittenRows } from '../personal-data.ts';
import { startOf } from '../program.ts';

const HELP = `
The mode is that of the environment (PII, PII_KEY_FILE). Empties the personal columns of the mirrored tables, their
copies in the history, and the rejected records, in one transaction; the next full sync fills in what the API still has.
Run it as the owner of the tables. Meanwhile nothing is loaded and no payment is noted. A process with the former mode
stores nothing any more, and ends: stop the workers first, and start them with the new mode.

Example:
  $ PII=hash PII_KEY_FILE=/run/secrets/pii.key affiliate-mirror personal-data switch`;

const FORGET_AGAIN =
  'forgotten people are known by their records alone from now on, since addresses are stored otherwise: run "affiliate-mirror forget" with each address again, or new records of these people are stored';

export const command: CommandFile = {
  register,
  connections: { pool: 2, isWriting: true },
};

function register(root: Command, cli: Cli): void {
  root
    .command('personal-data')
    .description('decide how personal data are kept in the mirror')
    .command('switch')
    .description('empty personal data, and keep them as the environment says (PII)')
    .addHelpText('after', HELP)
    .action(() =>
      cli.run(async (lifetime) => {
        const program = await openRewriting(cli, lifetime);
        const { db, personalData } = program;
        const switched = await rewrite(lifetime, async () => {
          const done = await switchMode(db, personalData);
          // Before vacuum: the same command, run again after a stop, would not know it.
          if (done.losesAddresses) printError(FORGET_AGAIN);
          // Also if nothing was rewritten: an earlier command may have been stopped before this.
          await vacuum(db);
          return done;
        });
        const [first, ...others] = describe(switched);
        print(`${startOf(program)}${first}`);
        for (const line of others) print(line);
        return 0;
      }),
    );
}

function describe({ from, to, isChanged, counts }: Switched): string[] {
  if (!isChanged) return [`the mirror keeps personal data as ${to} already`];
  const next =
    to === 'omit'
      ? 'backups, replicas and exports still hold what they held: see docs/personal-data.md'
      : 'run "affiliate-mirror sync": a full sync fills in what the API still has';
  const what = from === to ? `${to}, with another key` : to;
  const end = counts.size === 0 ? '.' : ':';
  return [
    `the mirror keeps personal data as ${what} from now on${end}`,
    ...describeRewritten(rewrittenRows(counts)),
    next,
  ];
}
