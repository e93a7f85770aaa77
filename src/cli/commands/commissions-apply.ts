// The command `commissions apply`: a batch of updates from a file.

import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { BATCH_COLUMNS, type BatchFile, readBatchFile } from '../../commissions/files/batch-file.ts';
import { isKeyTaken } from '../../commissions/requests/request-updates.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { counted, formatCount } from '../../contract/format.ts';
import { ACTIONS, type Action } from '../../contract/payment-request.ts';
import { describeError } from '../../describe-error.ts';
import { ConfigError, ExportTargetUnwritable } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import type { QueueFlags } from '../commissions/asked-row.ts';
import {
  addFileFlags,
  describeProblem,
  FILE_HELP,
  type FileFlags,
  fileOptions,
} from '../commissions/file-flags.ts';
import { queueUpdates } from '../commissions/queue.ts';
import { openResultFile } from '../commissions/result-file.ts';
import { makeOpeners, type Openers, readInput } from '../commissions/session.ts';
import { refuseTakenKeys } from '../commissions/taken-keys.ts';
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
The file is CSV (comma, semicolon or tab; the header in any order), an Excel
workbook (.xlsx), or one JSON object a line. "commissions template" makes an
empty one. Columns:
${listColumns(BATCH_COLUMNS)}
commission_id and action (pay, unpay or due) are required; pay needs paid_at,
due needs due_at, and a blank paid_at never takes a payment back.
expected_paid_at takes a timestamp, or the word unpaid; blank expects nothing.
A pay whose sale was refunded in full ends as conflict, unless even_if_refunded
is true in its row, or for the whole file with --even-if-refunded.
${FILE_HELP}

A row that was asked for before, in this file or another one, is not asked for
again: so the same file can be applied twice without harm. --again asks anew,
such as for a payment that was taken back in between, but for what still waits. A row with an
idempotency_key of its own (of at most 200 characters) goes by that key alone;
one that names another request already is a problem of its line.

Nothing is queued unless the whole file is good; every problem is listed with
its line. --result writes your rows with what became of each beside them.

The program's contract prefers a payout operation that marks a batch of one affiliate's commissions paid in one call,
and does not show it: each row here is a change of its own, which is still supported.

Examples:
  $ affiliate-mirror commissions apply payouts.csv --dry-run
  $ affiliate-mirror commissions apply payouts.xlsx --timezone Europe/Berlin \\
      --map commission_id="Provisions-ID" --action pay --wait --result done.xlsx
  $ psql -c "copy (…) to stdout csv header" |
      affiliate-mirror commissions apply - --wait --json > result.json`;

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
  const open = makeOpeners(cli, lifetime);
  const read = await readBatchFile(await readInput(path, lifetime.signal), {
    ...fileOptions(cli, path, flags, amountUnit),
    action: flags.action ?? null,
    evenIfRefunded: flags.evenIfRefunded === true,
  });
  const isProgramNeeded = flags.wait === true || flags.dryRun === true;
  const look = async () =>
    read.rows.some(({ hasOwnKey }) => hasOwnKey)
      ? await refuseTakenKeys((await (isProgramNeeded ? open.program() : open.paymentLedger())).db, read)
      : read;
  for (let batch = await look(); ; ) {
    try {
      return await queueGoodRows(open, lifetime, path, batch, flags, amountUnit);
    } catch (error) {
      // Another process took a key after the look, so nothing was queued: its line is a problem like any other.
      const now = isKeyTaken(error) ? await look() : batch;
      if (now.rows.length === batch.rows.length) throw error;
      batch = now;
    }
  }
}

async function queueGoodRows(
  open: Openers,
  lifetime: Lifetime,
  path: string,
  batch: BatchFile,
  flags: ApplyFlags,
  amountUnit: AmountUnit,
): Promise<ExitCode> {
  const { rows, problems, rowCount } = batch;
  const words = problems.map(describeProblem);
  for (const note of batch.table.notes) printError(note);
  const isUnsure = flags.skipInvalid === true && batch.table.areRowsUnsure;
  if (words.length > 0 && (flags.skipInvalid !== true || rows.length === 0 || isUnsure)) {
    throw new ConfigError([`nothing was queued from ${path}`, ...words, ...(isUnsure ? [UNSURE] : [])]);
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
    open,
    asked,
    {
      ...flags,
      ...(writeResult !== null && {
        onOutcomes: async (outcomes) => {
          try {
            await writeResult(batch, outcomes, amountUnit);
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

const UNSURE =
  'correct the quotes first: as they are, --skip-invalid cannot tell where a row ends, and would leave out others with it';

/** Returns the names, as many to a line as fit. */
function listColumns(names: readonly string[]): string {
  const lines: string[] = [];
  for (const name of names) {
    const last = lines.at(-1);
    if (last === undefined || last.length + name.length > 74) lines.push(`  ${name}`);
    else lines[lines.length - 1] = `${last}, ${name}`;
  }
  return lines.join(',\n');
}
