// The command `commissions apply`: a batch of updates from a file.

import { basename } from 'node:path';
import type { Command } from 'commander';
import { BATCH_COLUMNS, readBatchFile } from '../../commissions/batch-file.ts';
import type { Problem } from '../../commissions/table-file.ts';
import { ConfigError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import { type QueueFlags, queueUpdates } from '../commissions-queue.ts';
import { makeOpeners } from '../commissions-session.ts';
import { formatCount } from '../format.ts';
import { printError } from '../print.ts';
import { readInput } from '../read-input.ts';
import { addQueueFlags } from './commissions-request.ts';

interface ApplyFlags extends QueueFlags {
  readonly skipInvalid?: true;
  readonly again?: true;
  readonly evenIfRefunded?: true;
}

const HELP = `
The file is CSV (comma, semicolon or tab; the header in any order) or one JSON object a line. Columns:
  ${BATCH_COLUMNS.join(', ')}
commission_id and action (pay, unpay or due) are required; pay needs paid_at, due needs due_at, and a blank paid_at
never takes a payment back. expected_paid_at takes a moment, or the word unpaid; blank expects nothing.
A pay whose sale was refunded whole ends as conflict, unless even_if_refunded is true in its row, or for the whole file
with --even-if-refunded.

A row that was asked for before, in this file or another one, is not asked for again: so the same file can be applied
twice without harm. --again asks anew, such as for a payment that was taken back in between. A row with an
idempotency_key of its own goes by that key alone.

Nothing is queued unless the whole file is good; every problem is listed with its line.

Examples:
  $ affiliate-mirror commissions apply payouts.csv --dry-run
  $ affiliate-mirror commissions apply payouts.csv --wait --json > result.json
  $ psql -c "copy (…) to stdout csv header" | affiliate-mirror commissions apply - --wait`;

export function registerApply(group: Command, cli: Cli): void {
  addQueueFlags(
    group
      .command('apply')
      .description('a batch of updates from a file')
      .argument('<file>', 'CSV or NDJSON; - reads standard input')
      .option('--skip-invalid', 'queue the good rows of a file that has bad ones')
      .option('--again', 'ask anew for rows that were asked for before')
      .option('--even-if-refunded', 'pay also those whose sale was refunded whole'),
  )
    .addHelpText('after', HELP)
    .action((path: string, flags: ApplyFlags) =>
      cli.run(async (lifetime) => {
        const { rows, problems, rowCount } = readBatchFile(await readInput(path), {
          evenIfRefunded: flags.evenIfRefunded === true,
        });
        const words = problems.map(describeProblem);
        if (words.length > 0 && (flags.skipInvalid !== true || rows.length === 0)) {
          throw new ConfigError([`nothing was queued from ${path}`, ...words]);
        }
        for (const problem of words) printError(problem);
        if (words.length > 0) {
          printError(`${formatCount(rowCount - rows.length)} of ${formatCount(rowCount)} rows left out`);
        }
        const asked = rows.map((row) =>
          flags.again === true && !row.hasOwnKey
            ? { ...row, request: { ...row.request, idempotency_key: null } }
            : row,
        );
        const source = path === '-' ? 'stdin' : basename(path);
        const exitCode = await queueUpdates(makeOpeners(cli, lifetime), asked, flags, source);
        return words.length > 0 && exitCode === 0 ? 3 : exitCode;
      }),
    );
}

/** Returns the problem with its line in words. */
export function describeProblem({ line, problem }: Problem): string {
  return line === null ? problem : `line ${line}: ${problem}`;
}
