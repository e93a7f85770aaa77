// The command `commissions reconcile`: compares the books with the program, and fixes it if asked to.

import { basename } from 'node:path';
import type { Command } from 'commander';
import { LEDGER_COLUMNS, readLedgerFile } from '../../commissions/ledger-file.ts';
import {
  type CurrencyTotal,
  FINDINGS,
  proposeFixes,
  type ReconciledRow,
  reconcileLedger,
  totalsOf,
} from '../../commissions/reconcile-ledger.ts';
import { ConfigError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import { columnsOf } from '../commissions-listings.ts';
import { makeBatchProgress } from '../commissions-progress.ts';
import { queueUpdates } from '../commissions-queue.ts';
import { openProgram } from '../commissions-session.ts';
import type { ExitCode } from '../exit-code.ts';
import { formatCount } from '../format.ts';
import type { Lifetime } from '../lifetime.ts';
import { addOutputFlags, type Listing, type OutputFlags, printListing } from '../output-format.ts';
import { print, printError } from '../print.ts';
import { readInput } from '../read-input.ts';
import { renderTable } from '../render-table.ts';
import { describeProblem } from './commissions-apply.ts';

interface ReconcileFlags extends OutputFlags {
  readonly fix?: true;
  readonly wait?: true;
}

const HELP = `
The file is CSV or NDJSON with the columns ${LEDGER_COLUMNS.join(', ')}; amount and currency may be
missing, and other columns are not read. A blank paid_at says that the books have it as unpaid.

Findings:
${Object.entries(FINDINGS)
  .map(([finding, meaning]) => `  ${finding.padEnd(18)}${meaning}`)
  .join('\n')}
Commissions that the file lacks are looked for among those that the mirror knows as paid between the file's first
and last payment; all figures are read from the program anew.

--fix queues a payment for each unpaid_upstream and different_instant, only if nothing changes meanwhile. It never
takes a payment back, and never touches a row whose amount differs.

Exit code 3: books and program differ.`;

export function registerReconcile(group: Command, cli: Cli): void {
  addOutputFlags(
    group
      .command('reconcile')
      .description('compare your books with the program')
      .argument('<file>', 'CSV or NDJSON; - reads standard input')
      .option('--fix', 'queue the payments that the program lacks or dates otherwise')
      .option('--wait', 'with --fix: apply them here and now'),
  )
    .addHelpText('after', HELP)
    .action((path: string, flags: ReconcileFlags) =>
      cli.run((lifetime) => reconcile(cli, lifetime, path, flags)),
    );
}

async function reconcile(
  cli: Cli,
  lifetime: Lifetime,
  path: string,
  flags: ReconcileFlags,
): Promise<ExitCode> {
  const { rows: ledger, problems } = readLedgerFile(await readInput(path));
  if (problems.length > 0) {
    throw new ConfigError([`nothing was compared with ${path}`, ...problems.map(describeProblem)]);
  }
  const session = await openProgram(cli, lifetime);
  const { reader, db, log, concurrency, signal } = session;
  const progress = makeBatchProgress(ledger.length, { log });
  const rows: ReconciledRow[] = [];
  try {
    for await (const row of reconcileLedger({ client: reader, db }, ledger, { concurrency, signal })) {
      rows.push(row);
      progress.show({ pending: Math.max(0, ledger.length - rows.length) });
    }
  } finally {
    progress.finish();
  }
  const totals = totalsOf(rows);
  const differences = rows.filter(({ finding }) => finding !== 'match');
  const isForPrograms = flags.json === true || flags.csv === true;
  printListing(reportListing(isForPrograms ? rows : differences, totals), flags);
  if (!isForPrograms) print(renderTotals(totals));
  printError(`${formatCount(rows.length)} commissions compared: ${formatCount(differences.length)} differ`);
  const exitCode = differences.length > 0 ? 3 : 0;
  const fixes = proposeFixes(rows);
  if (flags.fix !== true) return exitCode;
  if (fixes.length === 0) {
    printError('nothing that --fix would change');
    return exitCode;
  }
  const asked = fixes.map((request) => ({ line: null, request, hasOwnKey: false }));
  const source = `reconcile-${path === '-' ? 'stdin' : basename(path)}`;
  const open = { ledger: async () => session, program: async () => session };
  const fixed = await queueUpdates(
    open,
    asked,
    { ...(flags.wait === true && { wait: true }), isStdoutTaken: isForPrograms },
    source,
  );
  const isAllMended = flags.wait === true && fixed === 0 && fixes.length === differences.length;
  return isAllMended ? 0 : exitCode;
}

function reportListing(
  rows: readonly ReconciledRow[],
  totals: readonly CurrencyTotal[],
): Listing<ReconciledRow> {
  return {
    name: 'rows',
    rows,
    more: { totals },
    table: {
      line: ({ line }) => (line === null ? null : String(line)),
      commission: ({ commission_id }) => commission_id,
      finding: ({ finding }) => finding,
      'ledger: paid': ({ ledger_paid_at }) => ledger_paid_at,
      'program: paid': ({ program_paid_at }) => program_paid_at,
      'ledger: amount': ({ ledger_amount }) => ledger_amount,
      'program: amount': ({ program_amount }) => program_amount,
      currency: ({ program_currency, ledger_currency }) => program_currency ?? ledger_currency,
    },
    csv: columnsOf<ReconciledRow>(
      'line',
      'commission_id',
      'finding',
      'ledger_paid_at',
      'program_paid_at',
      'ledger_amount',
      'program_amount',
      'ledger_currency',
      'program_currency',
    ),
  };
}

function renderTotals(totals: readonly CurrencyTotal[]): string {
  return renderTable(
    ['currency', 'finding', 'commissions', 'paid by the ledger', 'paid by the program', 'difference'],
    totals.map((total) => [
      total.currency,
      total.finding,
      total.commissions,
      total.ledger_paid,
      total.program_paid,
      total.difference,
    ]),
  );
}
