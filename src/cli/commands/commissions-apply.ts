// The command `commissions apply`: a batch of updates from a file.

import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { describeError } from '../../base/describe-error.ts';
import { ConfigError, ExportTargetUnwritable } from '../../base/errors.ts';
import { counted, formatCount } from '../../contract/format.ts';
import { ACTIONS, type Action } from '../../contract/payment-request.ts';
import { type AskedFile, refuseTakenKeys } from '../../payments/ask/ask-rows.ts';
import { BATCH_COLUMNS, readBatchFile } from '../../payments/files/batch-file.ts';
import { describeProblems } from '../../payments/files/raw-table.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { inTimeZone, readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { printError } from '../output/print.ts';
import { addFileFlags, FILE_HELP, type FileFlags, fileOptions, readInput } from '../payments/file-flags.ts';
import { type QueueFlags, queueUpdates } from '../payments/queue.ts';
import { openForRequests, type RequestSession } from '../payments/session.ts';
import { addQueueFlags } from './commissions-request.ts';

export interface QueueFileFlags extends QueueFlags {
  readonly result?: string;
  readonly skipInvalid?: true;
  readonly again?: true;
}

interface ApplyFlags extends QueueFileFlags, FileFlags {
  readonly action?: Action;
  readonly evenIfRefunded?: true;
}

const HELP = `
The file is CSV or an Excel workbook (.xlsx). "commissions template" makes an empty one. Its
columns:
${BATCH_COLUMNS.join(', ')}.
commission_id and action (pay, unpay or due) are required; pay needs paid_at, due needs due_at, and a blank paid_at
never takes a payment back.
${FILE_HELP}
Nothing is queued unless the whole file is good; every problem is listed with its line. A row that was asked for before
is not asked for again, so the same file can be applied twice without harm; --again asks anew, but for what still waits.
A row with an idempotency_key of its own goes by that key alone.

Examples:
  $ affiliate-mirror commissions apply payouts.csv --dry-run
  $ affiliate-mirror commissions apply payouts.xlsx --timezone Europe/Berlin \\
      --map commission_id="Provisions-ID" --action pay --wait --result done.xlsx
  $ psql -c "copy (…) to stdout csv header" |
      affiliate-mirror commissions apply - --wait --json > result.json

All of it: docs/finance.md`;

export const command: CommandFile = {
  register,
};

function register(group: Command, cli: Cli): void {
  const command = group
    .command('apply')
    .description('a batch of updates from a file')
    .argument('<file>', 'CSV or .xlsx; - reads standard input')
    .addOption(new Option('--action <action>', 'of every row, if no column says it').choices(ACTIONS))
    .option('--skip-invalid', 'queue the good rows of a file that has bad ones')
    .option('--again', 'ask anew for rows that were asked for before')
    .option('--even-if-refunded', 'pay also those whose sale was refunded in full')
    .option('--result <path>', 'write your rows and their outcomes: .csv or .xlsx');
  addQueueFlags(addFileFlags(command, BATCH_COLUMNS))
    .addHelpText('after', HELP)
    .action((path: string, flags: ApplyFlags) =>
      cli.run((lifetime) => apply(inTimeZone(cli, flags.timezone), lifetime, path, flags)),
    );
}

async function apply(cli: Cli, lifetime: Lifetime, path: string, flags: ApplyFlags): Promise<ExitCode> {
  const { money } = readCliConfig(cli).program;
  const read = await readBatchFile(await readInput(path, lifetime.signal), {
    ...fileOptions(flags, money),
    action: flags.action ?? null,
    evenIfRefunded: flags.evenIfRefunded === true,
  });
  const session = await openForRequests(cli, lifetime, flags);
  const batch = await refuseTakenKeys(session.program.db, read);
  return await queueGoodRows(session, lifetime, path, batch, flags);
}

/** Returns the exit code, after the good rows of the file were previewed or queued, and the result was written. */
export async function queueGoodRows(
  session: RequestSession,
  lifetime: Lifetime,
  path: string,
  batch: AskedFile,
  flags: QueueFileFlags,
): Promise<ExitCode> {
  const { rows, problems, rowCount } = batch;
  const words = describeProblems(problems);
  for (const note of batch.table.notes) printError(note);
  const isOfFile = problems.some(({ line }) => line === null);
  if (words.length > 0 && (flags.skipInvalid !== true || rows.length === 0 || isOfFile)) {
    const hint = rows.length === 0 || isOfFile ? '' : ' (--skip-invalid queues its good rows)';
    throw new ConfigError([`nothing was queued from ${path}${hint}`, ...words]);
  }
  for (const problem of words) printError(problem);
  if (words.length > 0) {
    printError(`${formatCount(rowCount - rows.length)} of ${counted(rowCount, 'row')} left out`);
  }
  const writeResult =
    flags.result === undefined
      ? null
      : await import('../payments/result-file.ts').then(({ openResultFile }) =>
          openResultFile(flags.result ?? '', path, lifetime),
        );
  const asked = rows.map((row) =>
    flags.again === true && !row.hasOwnKey
      ? { ...row, request: { ...row.request, idempotency_key: null } }
      : row,
  );
  const source = path === '-' ? 'stdin' : basename(path);
  let isLost = false;
  const exitCode = await queueUpdates(
    session,
    asked,
    {
      ...flags,
      ...(writeResult !== null && {
        onOutcomes: async (outcomes) => {
          try {
            await writeResult(batch, outcomes, session.program.money);
            printError(`written: ${flags.result}`);
          } catch (error) {
            if (!(error instanceof ExportTargetUnwritable)) throw error;
            // The payments are done, and their outcomes are printed nevertheless.
            printError(`affiliate-mirror: all was done but the result: ${describeError(error)}`);
            isLost = true;
          }
        },
      }),
    },
    source,
  );
  if (isLost) return 1;
  return words.length > 0 && exitCode === 0 ? 3 : exitCode;
}
