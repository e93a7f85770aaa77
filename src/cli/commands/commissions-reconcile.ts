// The command `commissions reconcile`: compares the books with the program, and fixes it if asked to.

import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { noteComparison } from '../../commissions/books/note-comparison.ts';
import { compareChanged, readOwnBooks } from '../../commissions/books/own-books.ts';
import {
  FINDINGS,
  proposeFixes,
  type ReconciledRow,
  readLastEnded,
  reconcileBooks,
  totalsOf,
} from '../../commissions/books/reconcile-books.ts';
import { BOOKS_COLUMNS, type BooksEntry, readBooksFile } from '../../commissions/files/books-file.ts';
import {
  findWaiting,
  readWaitingPayments,
  type WaitingPayments,
} from '../../commissions/requests/waiting-payments.ts';
import type { UpdateRequest } from '../../commissions/update-request.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { ConfigError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import {
  addFileFlags,
  describeProblem,
  FILE_FLAGS,
  FILE_HELP,
  type FileFlags,
  fileOptions,
} from '../commissions/file-flags.ts';
import { makeBatchProgress } from '../commissions/progress.ts';
import { queueUpdates } from '../commissions/queue.ts';
import { reconcileListing, renderTotals } from '../commissions/reconcile-listing.ts';
import { openProgram, type ProgramSession, readInput } from '../commissions/session.ts';
import { readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { addOutputFlags, isForPeople, type OutputFlags, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import { parseDate } from '../parse-moment.ts';

interface ReconcileFlags extends OutputFlags, FileFlags {
  readonly due?: true;
  readonly since?: Timestamp;
  readonly fix?: true;
  readonly wait?: true;
}

const HELP = `
The file is CSV, an Excel workbook (.xlsx) or NDJSON with the columns
${BOOKS_COLUMNS.join(', ')};
the last four may be missing. A blank paid_at says that the books have it as unpaid.
${FILE_HELP}
Findings:
${Object.entries(FINDINGS)
  .map(([finding, meaning]) => `  ${finding.padEnd(18)}${meaning}`)
  .join('\n')}

--due takes no file: what the payment ledger has as paid, and what else is due now, is compared with the program, by one
request for each commission.

--fix queues a payment for each unpaid_upstream and different_time, only if nothing changes meanwhile. It never takes a
payment back, and never touches a row whose amount differs.

Exit code 3: books and program differ. All of it: docs/finance.md`;

export function registerReconcile(group: Command, cli: Cli): void {
  const command = group
    .command('reconcile')
    .description('compare your books with the program')
    .argument('[file]', 'CSV, .xlsx or NDJSON; - reads standard input')
    .addOption(
      new Option('--due', 'compare what is due and what was paid through here').conflicts([
        'fix',
        'wait',
        ...FILE_FLAGS,
      ]),
    )
    .option(
      '--since <date>',
      'with --due: leave out what was paid before; a date alone is its midnight in UTC',
      parseDate,
    )
    .option('--fix', 'queue the payments that the program lacks or dates otherwise')
    .option('--wait', 'with --fix: apply them here and now');
  addOutputFlags(addFileFlags(command, BOOKS_COLUMNS))
    .addHelpText('after', HELP)
    .action((path: string | undefined, flags: ReconcileFlags) =>
      cli.run((lifetime) => reconcile(cli, lifetime, path, flags)),
    );
}

async function reconcile(
  cli: Cli,
  lifetime: Lifetime,
  path: string | undefined,
  flags: ReconcileFlags,
): Promise<ExitCode> {
  refuseContradictions(path, flags);
  const { since = null } = flags;
  const { amountUnit } = readCliConfig(cli);
  const how = { unit: amountUnit, signal: lifetime.signal };
  const ofFile = path === undefined ? null : await readFileOfBooks(cli, path, flags, how);
  const session = await openProgram(cli, lifetime);
  const { db } = session;
  const books = ofFile ?? (await readOwnBooks(db, { since }));
  // Read before the program: a request that ends meanwhile may have made what was read old.
  const lastEnded = await readLastEnded(db, books);
  const waiting = await readWaitingPayments(db, books);
  const found = await compare(session, books, { withOthers: ofFile !== null });
  const rows =
    ofFile !== null
      ? found
      : await compareChanged(db, found, { since }, (changed) =>
          compare(session, changed, { withOthers: false }),
        );
  const differing = rows.filter(({ finding }) => finding !== 'match').length;
  report(rows, differing, flags, amountUnit);
  const compared = { books: ofFile ? 'file' : 'payment_ledger', since, compared: rows.length } as const;
  await noteComparison(db, { ...compared, differing });
  const exitCode = differing > 0 ? 3 : 0;
  if (flags.fix !== true || path === undefined) return exitCode;
  const fixes = proposeFixes(rows, lastEnded);
  if (fixes.length === 0) {
    printError('nothing that --fix would change');
    return exitCode;
  }
  const fixed = await fix(session, fixes, waiting, path, flags);
  const isAllFixed = flags.wait === true && fixed === 0 && fixes.length === differing;
  if (!isAllFixed) return exitCode;
  await noteComparison(db, { ...compared, differing: 0 });
  return 0;
}

function refuseContradictions(path: string | undefined, { due, since, fix, wait }: ReconcileFlags): void {
  if ((path === undefined) !== (due === true)) {
    throw new ConfigError([
      'name a file, or give --due without one: what should the program be compared with?',
    ]);
  }
  if (since !== undefined && path !== undefined) {
    throw new ConfigError(['--since is for --due: leave out of the file what is not to be compared']);
  }
  if (wait === true && fix !== true) {
    throw new ConfigError(['--wait is for --fix, without which nothing is queued: give both, or none']);
  }
}

async function compare(
  session: ProgramSession,
  books: readonly BooksEntry[],
  { withOthers }: { withOthers: boolean },
): Promise<readonly ReconciledRow[]> {
  const { reader, db, concurrency, signal } = session;
  const progress = makeBatchProgress(books.length, session);
  const rows: ReconciledRow[] = [];
  try {
    const options = { withOthers, concurrency, signal };
    for await (const row of reconcileBooks({ client: reader, db }, books, options)) {
      rows.push(row);
      progress.show({ pending: Math.max(0, books.length - rows.length) });
    }
  } finally {
    progress.finish();
  }
  return rows;
}

function report(
  rows: readonly ReconciledRow[],
  differing: number,
  flags: OutputFlags,
  unit: AmountUnit,
): void {
  const totals = totalsOf(rows);
  const listed = isForPeople(flags) ? rows.filter(({ finding }) => finding !== 'match') : rows;
  printListing(reconcileListing(listed, totals, unit), flags);
  if (isForPeople(flags)) print(renderTotals(totals, unit));
  printError(
    `${counted(rows.length, 'commission')} compared: ${formatCount(differing)} ${differing === 1 ? 'differs' : 'differ'}`,
  );
}

/** Queues the payments, and returns how queueing or waiting for them ended. */
function fix(
  session: ProgramSession,
  fixes: readonly UpdateRequest[],
  waiting: WaitingPayments,
  path: string,
  flags: ReconcileFlags,
): Promise<ExitCode> {
  const asked = fixes.map((request) => ({
    line: null,
    request: { ...request, same_as: findWaiting(waiting, request) },
    hasOwnKey: true,
  }));
  return queueUpdates(
    { ledger: session, program: flags.wait === true ? session : null },
    asked,
    { ...(flags.wait === true && { wait: true }), isStdoutTaken: !isForPeople(flags) },
    `reconcile-${path === '-' ? 'stdin' : basename(path)}`,
  );
}

async function readFileOfBooks(
  _cli: Cli,
  path: string,
  flags: FileFlags,
  { unit, signal }: { unit: AmountUnit; signal: AbortSignal },
): Promise<readonly BooksEntry[]> {
  const bytes = await readInput(path, signal);
  const books = await readBooksFile(bytes, fileOptions(flags, unit));
  for (const note of books.notes) printError(note);
  if (books.problems.length > 0) {
    throw new ConfigError([`nothing was compared with ${path}`, ...books.problems.map(describeProblem)]);
  }
  return books.rows;
}
