// The command `commissions reconcile`: compares the books with the API, and fixes the affiliate program if asked to.

import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { ConfigError } from '../../base/errors.ts';
import { counted } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import type { AskedRow } from '../../payments/ask/ask-rows.ts';
import { acceptDifferences } from '../../payments/books/books-differences.ts';
import { compareBooks } from '../../payments/books/compare-books.ts';
import { PAYOUT_FINDINGS } from '../../payments/books/match-payouts.ts';
import { FINDINGS } from '../../payments/books/reconcile-books.ts';
import { BOOKS_COLUMNS, type BooksEntry, readBooksFile } from '../../payments/files/books-file.ts';
import { PAYMENTS_COLUMNS } from '../../payments/files/payments-file.ts';
import { describeProblems } from '../../payments/files/raw-table.ts';
import { writerConcurrency } from '../../payments/write/writer-concurrency.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { inTimeZone, readCliConfig } from '../configuration.ts';
import type { ConnectedProgram } from '../connect-program.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { nameUser } from '../name-user.ts';
import { addOutputFlags, isForPeople, type OutputFlags } from '../output/format.ts';
import { printError } from '../output/print.ts';
import { momentOf, parseDate } from '../parse-moment.ts';
import {
  addFileFlags,
  FILE_FLAGS,
  FILE_HELP,
  type FileFlags,
  fileOptions,
  readInput,
} from '../payments/file-flags.ts';
import { queueUpdates } from '../payments/queue.ts';
import { reconcileDocument } from '../payments/reconcile-listing.ts';
import { payoutsReconcileDocument, reconcilePayouts } from '../payments/reconcile-payouts.ts';
import { describeStaying, reportBooks } from '../payments/report-books.ts';
import { openConnected, openPaymentLedger } from '../payments/session.ts';
import { makeReadProgress } from '../payments/wait.ts';

interface ReconcileFlags extends OutputFlags, FileFlags {
  readonly by?: 'payout';
  readonly due?: true;
  readonly since?: string;
  readonly fix?: true;
  readonly wait?: true;
  readonly note?: true;
  readonly accept?: readonly string[];
  readonly reason?: string;
}

const HELP = `
The file is CSV or an Excel workbook (.xlsx) with the columns
${BOOKS_COLUMNS.join(', ')};
the last four may be missing. A blank paid_at means unpaid in the books.
${FILE_HELP}
Findings:
${listFindings(FINDINGS)}

--due takes no file: it compares the commissions that the payment ledger has as paid, and those that are due now, with
the API, by one request for each.

--fix queues a payment for each unpaid_upstream and different_time, only if nothing changes meanwhile. It never takes a
payment back, and never touches a row whose amount differs.

--note tells operations: differences raise an alert, which ends once each was compared anew and agrees, with
its amount if that differed.
--accept ID --reason TEXT takes a noted difference out of that, and out of the exit code, until it changes.

--by payout compares a payment provider's file with the payouts that the mirror has as paid or processing. Its columns are
${PAYMENTS_COLUMNS.join(', ')};
affiliate is an identifier, an email address or a payout address; all others may be missing. Payments of an affiliate in a
currency go to payouts of equal amounts first, then in order of time. Findings:
${listFindings(PAYOUT_FINDINGS)}

Exit code 3: books and API differ. All of it: docs/finance.md`;

export const command: CommandFile = {
  register,
  documents: {
    'commissions-reconcile': reconcileDocument('minor'),
    'commissions-reconcile-payouts': payoutsReconcileDocument('minor'),
  },
};

/** Those of either file. */
const COLUMNS: readonly string[] = [...new Set([...BOOKS_COLUMNS, ...PAYMENTS_COLUMNS])];

function listFindings(findings: Readonly<Record<string, string>>): string {
  return Object.entries(findings)
    .map(([finding, meaning]) => `  ${finding.padEnd(20)}${meaning}`)
    .join('\n');
}

function register(group: Command, cli: Cli): void {
  const command = group
    .command('reconcile')
    .description('compare your books with the affiliate program')
    .argument('[file]', 'CSV or .xlsx; - reads standard input')
    .addOption(
      new Option('--due', 'compare what is due, and what was paid through affiliate-mirror').conflicts([
        'fix',
        'wait',
        ...FILE_FLAGS,
      ]),
    )
    .addOption(
      new Option('--by <what>', 'compare by affiliate and amount with the payouts')
        .choices(['payout'])
        .conflicts(['due', 'fix', 'wait', 'note', 'accept']),
    )
    .option(
      '--since <date>',
      'with --due or --by: leave out what was paid before; a date alone is its midnight in DISPLAY_TIMEZONE',
      parseDate,
    )
    .option('--fix', 'queue the payments that the API lacks or dates otherwise')
    .option('--wait', 'with --fix: apply them here and now')
    .option('--note', 'note the result: differences alarm operations')
    .addOption(
      new Option('--accept <commission>', 'accept its noted difference; once for each')
        .argParser((id: string, before: readonly string[] = []) => [...before, id.toLowerCase()])
        .conflicts(['due', 'since', 'fix', 'wait', 'note', ...FILE_FLAGS]),
    )
    .option('--reason <text>', 'with --accept: why');
  addOutputFlags(addFileFlags(command, COLUMNS))
    .addHelpText('after', HELP)
    .action((path: string | undefined, flags: ReconcileFlags) =>
      cli.run((lifetime) => reconcile(inTimeZone(cli, flags.timezone), lifetime, path, flags)),
    );
}

async function reconcile(
  cli: Cli,
  lifetime: Lifetime,
  path: string | undefined,
  flags: ReconcileFlags,
): Promise<ExitCode> {
  refuseContradictions(path, flags);
  const { accept, reason } = flags;
  if (accept !== undefined && reason !== undefined) {
    const { db } = await openPaymentLedger(cli, lifetime, { endsAtOnce: true });
    await acceptDifferences(db, accept, { reason, by: nameUser() });
    printError(`${counted(accept.length, 'difference')} accepted`);
    return 0;
  }
  const { money } = readCliConfig(cli).program;
  const since = flags.since === undefined ? null : momentOf(flags.since);
  if (flags.by !== undefined && path !== undefined) {
    const bytes = await readInput(path, lifetime.signal);
    return await reconcilePayouts(cli, lifetime, { path, bytes, since }, flags);
  }
  const how = { money, signal: lifetime.signal };
  const ofFile = path === undefined ? null : await readFileOfBooks(path, flags, how);
  const program = await openConnected(cli, lifetime);
  const progress = makeReadProgress(program);
  const compared = await compareBooks({ client: program.clients.reads, db: program.db }, ofFile, {
    since,
    concurrency: writerConcurrency(program.rateLimit),
    signal: lifetime.signal,
    onProgress: progress.show,
  }).finally(() => progress.finish());
  const { differing, fixes } = compared;
  const staying = flags.note === true ? await compared.note() : [];
  reportBooks(compared, flags, money);
  if (staying.length > 0) printError(describeStaying(staying));
  const exitCode = differing.length > 0 ? 3 : 0;
  if (flags.fix !== true || path === undefined) return exitCode;
  if (fixes.length === 0) {
    printError('nothing that --fix would change');
    return exitCode;
  }
  const fixed = await fix(program, fixes, path, flags);
  const isAllFixed = flags.wait === true && fixed === 0 && fixes.length === differing.length;
  if (!isAllFixed) return exitCode;
  if (flags.note === true) await compared.note(true);
  return 0;
}

function refuseContradictions(path: string | undefined, flags: ReconcileFlags): void {
  const { by, due, since, fix, wait, accept, reason } = flags;
  const known: readonly string[] = by === undefined ? BOOKS_COLUMNS : PAYMENTS_COLUMNS;
  const unread = [...(flags.map?.keys() ?? [])].find((column) => !known.includes(column));
  if (unread !== undefined) {
    throw new ConfigError([
      `--map ${unread} is ${by === undefined ? 'for --by payout' : 'not for --by payout'}: the columns are ${known.join(', ')}`,
    ]);
  }
  if ((accept === undefined) !== (reason === undefined) || (accept !== undefined && path !== undefined)) {
    throw new ConfigError([
      '--accept and --reason belong together, without a file: the difference was noted by a comparison before',
    ]);
  }
  if (accept !== undefined) return;
  if ((path === undefined) !== (due === true)) {
    throw new ConfigError([
      'name a file, or give --due without one: nothing is there to compare the API with',
    ]);
  }
  if (since !== undefined && path !== undefined && by === undefined) {
    throw new ConfigError([
      '--since is for --due and --by payout: leave out of the file what is not to be compared',
    ]);
  }
  if (wait === true && fix !== true) {
    throw new ConfigError(['--wait is for --fix, without which nothing is queued: give both, or none']);
  }
}

/** Queues the payments, and returns how queueing or waiting for them ended. */
function fix(
  program: ConnectedProgram,
  fixes: readonly AskedRow[],
  path: string,
  flags: ReconcileFlags,
): Promise<ExitCode> {
  return queueUpdates(
    { program, connected: flags.wait === true ? program : null },
    fixes,
    { ...(flags.wait === true && { wait: true }), isStdoutTaken: !isForPeople(flags) },
    `reconcile-${path === '-' ? 'stdin' : basename(path)}`,
  );
}

async function readFileOfBooks(
  path: string,
  flags: FileFlags,
  { money, signal }: { money: MoneyFormat; signal: AbortSignal },
): Promise<readonly BooksEntry[]> {
  const bytes = await readInput(path, signal);
  const books = await readBooksFile(bytes, fileOptions(flags, money));
  for (const note of books.notes) printError(note);
  if (books.problems.length > 0) {
    throw new ConfigError([`nothing was compared with ${path}`, ...describeProblems(books.problems)]);
  }
  return books.rows;
}
