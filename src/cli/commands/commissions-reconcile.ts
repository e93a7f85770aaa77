// The command `commissions reconcile`: compares the books with the program, and fixes it if asked to.

import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { BOOKS_COLUMNS, type BooksEntry, readBooksFile } from '../../commissions/files/books-file.ts';
import { noteComparison } from '../../commissions/note-comparison.ts';
import { readOwnBooks } from '../../commissions/own-books.ts';
import {
  type CurrencyTotal,
  FINDINGS,
  proposeFixes,
  type ReconciledRow,
  readLastEnded,
  reconcileBooks,
  totalsOf,
} from '../../commissions/reconcile-books.ts';
import { findWaiting, readWaitingPayments } from '../../commissions/waiting-payments.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { ConfigError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import { columnsOf, money, sayUnit } from '../commissions-listings.ts';
import { makeBatchProgress } from '../commissions-progress.ts';
import { queueUpdates } from '../commissions-queue.ts';
import { openProgram, readInput } from '../commissions-session.ts';
import { readCliConfig } from '../configuration.ts';
import { AMOUNTS, type ReconcileDocument, SUMS } from '../documents/reconcile.ts';
import type { ExitCode } from '../exit-code.ts';
import {
  addFileFlags,
  describeProblem,
  FILE_FLAGS,
  FILE_HELP,
  type FileFlags,
  fileOptions,
  nameUnread,
} from '../file-flags.ts';
import type { Lifetime } from '../lifetime.ts';
import { addOutputFlags, type Listing, type OutputFlags, printListing } from '../output-format.ts';
import { parseDate } from '../parse-moment.ts';
import { print, printError } from '../print.ts';
import { renderTable } from '../render-table.ts';

interface ReconcileFlags extends OutputFlags, FileFlags {
  readonly due?: true;
  readonly since?: Timestamp;
  readonly fix?: true;
  readonly wait?: true;
}

const HELP = `
The file is CSV, an Excel workbook (.xlsx) or NDJSON with the columns
${BOOKS_COLUMNS.join(', ')};
the last four may be missing. A blank paid_at says that the books have it as
unpaid; so does a result_state of "apply --result" other than applied or
unchanged. Rows that were left out or whose action is due are not compared.
${FILE_HELP}

Findings:
${Object.entries(FINDINGS)
  .map(([finding, meaning]) => `  ${finding.padEnd(18)}${meaning}`)
  .join('\n')}
Commissions that the file lacks are looked for among those that the mirror
knows as paid between the file's first and last payment; all figures are read
from the program anew.

--due takes no file: what the payment ledger has as paid, and what else is due
now, is compared with the program, by one request for each commission; with
--since, of the former only what was paid since then. Run it before paying, or
after: unpaid_upstream then is a payment that somebody took back elsewhere,
not_in_books one that the mirror has not seen yet. It fixes nothing, since only you know which of both is right.

--fix queues a payment for each unpaid_upstream and different_time, only if
nothing changes meanwhile. It never takes a payment back, and never touches a
row whose amount differs. What was asked for before, here or in a batch, and
still waits is not queued again.

Exit code 3: books and program differ.`;

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
  if ((path === undefined) !== (flags.due === true)) {
    throw new ConfigError([
      'name a file, or give --due without one: what should the program be compared with?',
    ]);
  }
  const { since = null } = flags;
  if (since !== null && path !== undefined) {
    throw new ConfigError(['--since is for --due: leave out of the file what is not to be compared']);
  }
  if (flags.wait === true && flags.fix !== true)
    throw new ConfigError(['--wait is for --fix, without which nothing is queued: give both, or none']);
  const { amountUnit } = readCliConfig(cli);
  const how = { unit: amountUnit, signal: lifetime.signal };
  const ofFile = path === undefined ? null : await readFileOfBooks(path, flags, how);
  const session = await openProgram(cli, lifetime);
  const books = ofFile ?? (await readOwnBooks(session.db, { since }));
  const { reader, db, concurrency, signal } = session;
  // Read before the program: a request that ends meanwhile may have made what was read old.
  const lastEnded = await readLastEnded(db, books);
  const waiting = await readWaitingPayments(db, books);
  const progress = makeBatchProgress(books.length, session);
  const rows: ReconciledRow[] = [];
  try {
    for await (const row of reconcileBooks({ client: reader, db }, books, {
      withOthers: ofFile !== null,
      concurrency,
      signal,
    })) {
      rows.push(row);
      progress.show({ pending: Math.max(0, books.length - rows.length) });
    }
  } finally {
    progress.finish();
  }
  const totals = totalsOf(rows);
  const differences = rows.filter(({ finding }) => finding !== 'match');
  const isForPrograms = flags.json === true || flags.csv === true;
  printListing(reportListing(isForPrograms ? rows : differences, totals, amountUnit), flags);
  if (!isForPrograms) print(renderTotals(totals, amountUnit));
  printError(`${counted(rows.length, 'commission')} compared: ${formatCount(differences.length)} differ`);
  const compared = { books: ofFile ? 'file' : 'payment_ledger', since, compared: rows.length } as const;
  await noteComparison(db, { ...compared, differing: differences.length });
  const exitCode = differences.length > 0 ? 3 : 0;
  const fixes = proposeFixes(rows, lastEnded);
  if (flags.fix !== true || path === undefined) return exitCode;
  if (fixes.length === 0) {
    printError('nothing that --fix would change');
    return exitCode;
  }
  const asked = fixes.map((request) => ({
    line: null,
    request,
    hasOwnKey: true,
    waiting: findWaiting(waiting, request),
  }));
  const source = `reconcile-${path === '-' ? 'stdin' : basename(path)}`;
  const open = { paymentLedger: async () => session, program: async () => session };
  const fixed = await queueUpdates(
    open,
    asked,
    { ...(flags.wait === true && { wait: true }), isStdoutTaken: isForPrograms },
    source,
  );
  const isAllFixed = flags.wait === true && fixed === 0 && fixes.length === differences.length;
  if (!isAllFixed) return exitCode;
  await noteComparison(db, { ...compared, differing: 0 });
  return 0;
}

async function readFileOfBooks(
  path: string,
  flags: FileFlags,
  { unit, signal }: { unit: AmountUnit; signal: AbortSignal },
): Promise<readonly BooksEntry[]> {
  const bytes = await readInput(path, signal);
  const books = await readBooksFile(bytes, fileOptions(path, flags, unit));
  if (books.problems.length > 0) {
    throw new ConfigError([`nothing was compared with ${path}`, ...books.problems.map(describeProblem)]);
  }
  nameUnread(books);
  return books.rows;
}

function reportListing(
  rows: readonly ReconciledRow[],
  totals: readonly CurrencyTotal[],
  unit: AmountUnit,
): Listing<ReconciledRow> {
  return {
    rows,
    table: {
      line: ({ line }) => (line === null ? null : String(line)),
      commission: ({ commission_id }) => commission_id,
      finding: ({ finding }) => finding,
      'books: paid': ({ books_paid_at }) => books_paid_at,
      'program: paid': ({ program_paid_at }) => program_paid_at,
      // Books that name no currency count in the program's.
      'books: amount': ({ books_amount, books_currency, program_currency }) =>
        money(books_amount, books_currency ?? program_currency, unit),
      'program: amount': ({ program_amount, program_currency }) =>
        money(program_amount, program_currency, unit),
    },
    narrow: { mayGo: ['books: paid', 'program: paid', 'line', 'books: amount'] },
    csv: sayUnit(COLUMNS, AMOUNTS, unit),
    document: (): ReconcileDocument => ({
      totals: totals.map((total) => sayUnit(total, SUMS, unit)),
      rows: rows.map((row) => sayUnit(row, AMOUNTS, unit)),
    }),
  };
}

const COLUMNS = columnsOf<ReconciledRow>(
  'line',
  'commission_id',
  'finding',
  'books_paid_at',
  'program_paid_at',
  'books_amount',
  'program_amount',
  'books_currency',
  'program_currency',
);

function renderTotals(totals: readonly CurrencyTotal[], unit: AmountUnit): string {
  return renderTable(
    ['currency', 'finding', 'commissions', 'paid by the books', 'paid by the program', 'difference'],
    totals.map((total) => [
      total.currency,
      total.finding,
      total.commissions,
      money(total.books_paid, total.currency, unit),
      money(total.program_paid, total.currency, unit),
      money(total.difference, total.currency, unit),
    ]),
    { mayGo: ['difference', 'commissions'] },
  );
}
