// The command group `personal-data`: has the mirror keep personal data in another mode.

import type { Command } from 'commander';
import { vacuum } from '../../personal-data/rewriting.ts';
import { switchMode } from '../../personal-data/switch-mode.ts';
import type { Cli } from '../cli.ts';
import type { SwitchedDocument } from '../documents/personal-data.ts';
import { print, printError, printJson } from '../output/print.ts';
import { describeRewritten, openRewriting, rewrite, rewrittenRows } from '../rewriting.ts';

const HELP = `
The mode is that of the environment (PII, PII_KEY_FILE). Empties the personal columns of the mirrored tables, their
copies in the history, and the rejected records, in one transaction; the next full sync fills in what the API still has.
Run it as the owner of the tables. Beside it, nothing is loaded and no payment is noted. A process that is set to the
former mode stores nothing any more, and ends: stop the workers first, and start them with the new mode.

Example:
  $ PII=hash PII_KEY_FILE=/run/secrets/pii.key affiliate-mirror personal-data switch`;

const FORGET_AGAIN =
  'forgotten people are known by their records alone from now on, since addresses are stored otherwise: run "affiliate-mirror forget" with each address again, or new records of these people are stored';

export function registerPersonalData(root: Command, cli: Cli): void {
  root
    .command('personal-data')
    .description('decide how personal data are kept in the mirror')
    .command('switch')
    .description('empty personal data, and keep them as the environment says (PII)')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', HELP)
    .action(({ json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const { db, settings } = await openRewriting(cli, lifetime, 'personal-data');
        const switched = await rewrite(lifetime, async () => {
          const done = await switchMode(db, settings);
          // At once: the same command again would no longer know it.
          if (done.losesAddresses) printError(FORGET_AGAIN);
          // Also where nothing was left to do: an earlier one may have been stopped before it.
          await vacuum(db);
          return done;
        });
        const { from, to, isChanged, counts } = switched;
        const result: SwitchedDocument = {
          from,
          to,
          is_changed: isChanged,
          rewritten: rewrittenRows(counts),
        };
        if (json === true) printJson(result);
        else for (const line of describe(result)) print(line);
        return 0;
      }),
    );
}

function describe({ from, to, is_changed, rewritten }: SwitchedDocument): string[] {
  if (!is_changed) return [`the mirror keeps personal data as ${to} already`];
  const next =
    to === 'omit'
      ? 'backups, replicas and exports still hold what they held: see docs/personal-data.md'
      : 'run "affiliate-mirror sync": a full sync fills in what the API still has';
  const what = from === to ? `${to}, with another key` : to;
  const end = rewritten.length === 0 ? '.' : ':';
  return [
    `the mirror keeps personal data as ${what} from now on${end}`,
    ...describeRewritten(rewritten),
    next,
  ];
}
