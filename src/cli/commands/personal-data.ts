// The command group `personal-data`: has the mirror keep personal data in another mode.

import type { Command } from 'commander';
import { switchMode } from '../../personal-data/switch-mode.ts';
import { REWRITTEN_TABLES, vacuumFull } from '../../personal-data/vacuum.ts';
import type { Cli } from '../cli.ts';
import type { SwitchedDocument } from '../documents/personal-data.ts';
import { print, printError, printJson } from '../output/print.ts';
import { describeRewritten, openRewriting, rewrite, rewrittenRows } from '../rewriting.ts';

const HELP = `
The mode is that of the environment (PII, PII_KEY_FILE). Rewrites the mirrored tables, their history, the rejected records
and the errors of runs and payments, all in one transaction, and then has Postgres write the tables anew (vacuum full),
so that no old value is left in their files. Run it as the owner of the tables. Beside it, nothing is loaded and no
payment is noted. A process that is set to the former mode sends and stores nothing any more, and ends: stop the workers
first, and start them with the new mode. Run again, it leaves out the errors that were stored since.

From plain to hash, and from either to omit, takes effect at once. The way back, and another key, begin anew: what is
stored as hashes becomes empty, and the next full sync fills in what the program still has.

Example:
  $ PII=hash PII_KEY_FILE=/run/secrets/pii.key affiliate-mirror personal-data switch`;

const FORGET_AGAIN =
  'who was forgotten is known by address with the former key only: run "affiliate-mirror forget" with each address again, or new records of these people are stored';
const KEEP_KEY = `${FORGET_AGAIN}; or set PII_KEY_FILE to that key, here and for every worker`;

export function registerPersonalData(root: Command, cli: Cli): void {
  root
    .command('personal-data')
    .description('decide how personal data are kept in the mirror')
    .command('switch')
    .description('rewrite the mirror to the mode of the environment (PII)')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', HELP)
    .action(({ json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const { db, settings } = await openRewriting(cli, lifetime, 'personal-data');
        const switched = await rewrite(lifetime, async () => {
          const done = await switchMode(db, settings);
          // At once: the same command again would no longer know it.
          if (done.lacksFormerKey) printError(done.to === 'hash' ? FORGET_AGAIN : KEEP_KEY);
          // Also where nothing was left to do: an earlier one may have been stopped before it.
          await vacuumFull(db, REWRITTEN_TABLES, { signal: lifetime.signal });
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
  if (!is_changed) {
    const already = `the mirror keeps personal data as ${to} already; its tables were written anew`;
    if (rewritten.length === 0) return [already];
    return [`${already}, and errors in them left out:`, ...describeRewritten(rewritten)];
  }
  const next =
    from === 'plain' || to === 'omit'
      ? 'backups, replicas of another kind and exports still hold what they held: see docs/personal-data.md'
      : 'run "affiliate-mirror sync": a full sync fills in what the program still has';
  const what = from === to ? `${to}, with another key` : to;
  const end = rewritten.length === 0 ? '.' : ':';
  return [
    `the mirror keeps personal data as ${what} from now on${end}`,
    ...describeRewritten(rewritten),
    next,
  ];
}
