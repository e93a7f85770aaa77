// The command `commissions apply`: a batch of updates from a file.

import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { BATCH_COLUMNS, type BatchFile, readBatchFile } from '../../commissions/files/batch-file.ts';
import { foreseeAnswers } from '../../commissions/requests/request-updates.ts';
import { quote } from '../../commissions/timestamps.ts';
import { counted, formatCount } from '../../contract/format.ts';
import { ACTIONS, type Action } from '../../contract/payment-request.ts';
import type { Database } from '../../db/database.ts';
import { describeError } from '../../describe-error.ts';
import { ConfigError, ExportTargetUnwritable } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import type { QueueFlags } from '../commissions/asked.ts';
import {
  addFileFlags,
  describeProblem,
  FILE_HELP,
  type FileFlags,
  fileOptions,
} from '../commissions/file-flags.ts';
import { queueUpdates } from '../commissions/queue.ts';
import { openResultFile } from '../commissions/result-file.ts';
import { openForRequests, type RequestSession, readInput } from '../commissions/session.ts';
import { readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { printError } from '../output/print.ts';
import { addQueueFlags } from './commissions-request.ts';

interface ApplyFlags extends QueueFlags, FileFlags {
  readonly action?: Action;
  readonly result?: string;
  readonly skipInvalid?: true;
  readonly again?: true;
  readonly evenIfRefunded?: true;
}

const HELP = `
The file is CSV, an Excel workbook (.xlsx), or one JSON object a line. "commissions template" makes an empty one, with
the columns that it may have:
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

export function registerApply(group: Command, cli: Cli): void {
  const command = group
    .command('apply')
    .description('a batch of updates from a file')
    .argument('<file>', 'CSV, .xlsx or NDJSON; - reads standard input')
    .addOption(new Option('--action <action>', 'of every row, if no column says it').choices(ACTIONS))
    .option('--skip-invalid', 'queue the good rows of a file that has bad ones')
    .option('--again', 'ask anew for rows that were asked for before')
    .option('--even-if-refunded', 'pay also those whose sale was refunded in full')
    .option('--result <path>', 'write your rows and their outcomes: .csv or .xlsx');
  addQueueFlags(addFileFlags(command, BATCH_COLUMNS))
    .addHelpText('after', HELP)
    .action((path: string, flags: ApplyFlags) => cli.run((lifetime) => apply(cli, lifetime, path, flags)));
}

async function apply(cli: Cli, lifetime: Lifetime, path: string, flags: ApplyFlags): Promise<ExitCode> {
  const { amountUnit } = readCliConfig(cli);
  const read = await readBatchFile(await readInput(path, lifetime.signal), {
    ...fileOptions(flags, amountUnit),
    action: flags.action ?? null,
    evenIfRefunded: flags.evenIfRefunded === true,
  });
  const session = await openForRequests(cli, lifetime, flags);
  const batch = await refuseTakenKeys(session.ledger.db, read);
  return await queueGoodRows(session, lifetime, path, batch, flags);
}

/** Returns the file with the rows as problems whose own key is that of another request already. */
async function refuseTakenKeys(db: Database, batch: BatchFile): Promise<BatchFile> {
  const named = batch.rows.filter(({ hasOwnKey }) => hasOwnKey);
  const answers = await foreseeAnswers(
    db,
    named.map(({ request }) => request),
  );
  const taken = named.flatMap(({ line, request: { idempotency_key } }, index) => {
    const { answer, id, action, commission_id } = answers[index] ?? {};
    if (answer !== 'key taken') return [];
    const problem = `the idempotency_key ${quote(idempotency_key ?? '')} is that of request ${id} already (${action} of commission ${commission_id}): give this row a key of its own, or none`;
    return [{ line, problem }];
  });
  const lines = new Set(taken.map(({ line }) => line));
  return {
    ...batch,
    rows: batch.rows.filter(({ line }) => !lines.has(line)),
    problems: [...batch.problems, ...taken].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

async function queueGoodRows(
  session: RequestSession,
  lifetime: Lifetime,
  path: string,
  batch: BatchFile,
  flags: ApplyFlags,
): Promise<ExitCode> {
  const { rows, problems, rowCount } = batch;
  const words = problems.map(describeProblem);
  for (const note of batch.table.notes) printError(note);
  const isOfFile = problems.some(({ line }) => line === null);
  if (words.length > 0 && (flags.skipInvalid !== true || rows.length === 0 || isOfFile)) {
    throw new ConfigError([`nothing was queued from ${path}`, ...words]);
  }
  for (const problem of words) printError(problem);
  if (words.length > 0) {
    printError(`${formatCount(rowCount - rows.length)} of ${counted(rowCount, 'row')} left out`);
  }
  const writeResult = flags.result === undefined ? null : await openResultFile(flags.result, path, lifetime);
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
            await writeResult(batch, outcomes, session.ledger.amountUnit);
            printError(`written: ${flags.result}`);
          } catch (error) {
            if (!(error instanceof ExportTargetUnwritable)) throw error;
            // What was paid is paid, and is to be seen all the same.
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
