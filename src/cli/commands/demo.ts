// The command `demo`: everything in one process on this machine, from an empty directory to the first answers.

import type { Command } from 'commander';
import type { Pool } from 'pg';
import type { Config } from '../../config/config.ts';
import { AUTO, OPTIONAL_LISTS } from '../../config/optional-lists.ts';
import { formatCount, formatDuration } from '../../contract/format.ts';
import { runMigrations } from '../../db/migrate.ts';
import { calmLevel, makeLogger } from '../../log.ts';
import type { Treatment } from '../../records/treatment.ts';
import { NO_FAULTS } from '../../sandbox/fault-plan.ts';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import { runSync } from '../../sync/run-sync.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import { markAsDemo, refuseForeignMirror } from '../demo/mark.ts';
import { type DemoSession, serveDemoPage } from '../demo/page.ts';
import { choosePayable, type DueCommission, type PaymentDeps, payDue } from '../demo/payments.ts';
import { compareWithProgram, type Example, PAYABLE_TODAY, runExample, TOUR } from '../demo/tour.ts';
import type { ExitCode } from '../exit-code.ts';
import { type Lifetime, untilStopped } from '../lifetime.ts';
import { type OpenDatabase, openDatabase } from '../open-database.ts';
import { print, printError } from '../output/print.ts';
import { renderTable } from '../output/render-table.ts';
import { openTreatment } from '../personal-data.ts';
import { makeProgramClient } from '../program-client.ts';
import { chooseResources, makeFindLists } from '../sync/find-lists.ts';
import { describeConcerns } from '../sync/render-runs.ts';
import { openTracing } from '../tracing.ts';
import { DEFAULT_SIZE, SANDBOX_HOST, SANDBOX_SECRET } from './sandbox.ts';

/** Apart from the schema of the command `sandbox`, whose program may be of another size. */
export const PROGRAM_SCHEMA = 'demo_program';

export function registerDemo(root: Command, cli: Cli): void {
  root
    .command('demo')
    .description('see it work: a made-up program, mirrored on this machine')
    .option('--once', 'end after the first sync')
    .addHelpText(
      'after',
      `
Needs nothing: starts its own Postgres under DATA_DIR (uses DATABASE_URL where it is set), makes up a program with
${formatCount(DEFAULT_SIZE.affiliates)} affiliates and ${formatCount(DEFAULT_SIZE.referrals)} referrals that lists its commissions too, mirrors it, shows what
finance would pay today, pays a few of that, and shows what can be asked of the mirror. The status page is up from
the first line on (at STATUS_PORT, or any free one where that is taken). Then it stays up until Ctrl-C. The data stay
where they are; the next demo finds them.`,
    )
    .action(({ once }: { once?: true }) => cli.run((lifetime) => demonstrate(cli, lifetime, once === true)));
}

async function demonstrate(cli: Cli, lifetime: Lifetime, isOnce: boolean): Promise<ExitCode> {
  const config = readCliConfig(cli, { servesPage: true });
  const log = makeLogger(calmLevel(config.logLevel));
  await openTracing({ log, lifetime }, config);
  const session: DemoSession = { config, log, lifetime };

  print('affiliate-mirror demo: a made-up affiliate program, mirrored into Postgres on this machine.\n');
  const page = await serveDemoPage(session);
  print(`The status page, which shows all of this while it happens: ${page.url}\n`);

  const database = await openPostgres(session);
  const { pool, db } = database;
  const { url } = await startProgram(session, pool);
  lifetime.signal.throwIfAborted();
  const treatment = await makeMirror(session, database);
  page.show(db);
  const runs = await mirror({ db, log, lifetime, treatment }, config, url);

  const due = await choosePayable(pool);
  if (due.length > 0) await showExample(pool, PAYABLE_TODAY);
  const { timeoutMs } = config.api;
  const arePaid = await showPayments(pool, due, { db, log, lifetime, treatment }, timeoutMs, url);
  const isVerified = await showComparison(pool, runs);
  for (const example of TOUR) await showExample(pool, example);
  printWayOn(database, isOnce);

  for (const concern of runs.flatMap(describeConcerns)) printError(`affiliate-mirror: ${concern}`);
  if (!isOnce) {
    printWhatToTry(page.url, url, config.databaseUrl !== null);
    await untilStopped(lifetime.signal);
    print('\nStopping. The data stay; "npx affiliate-mirror demo" finds them again.');
  }
  return isVerified && arePaid ? 0 : 3;
}

async function openPostgres({ config, log, lifetime }: DemoSession): Promise<OpenDatabase> {
  const { databaseUrl, dataDir, mirrorSchema } = config;
  const where = databaseUrl === null ? `its own, with its data under ${dataDir}` : 'the one of DATABASE_URL';
  print(`1. Postgres: ${where} …`);
  const database = await openDatabase({ log, lifetime }, config, 'demo');
  print(`   ${database.name}`);
  await refuseForeignMirror(database.pool, mirrorSchema);
  return database;
}

/** Returns the made-up program, as this demo or an earlier one filled it. It ends with the command. */
async function startProgram({ log, lifetime }: DemoSession, pool: Pool): Promise<Sandbox> {
  print(
    `2. The program: ${formatCount(DEFAULT_SIZE.affiliates)} affiliates and ${formatCount(DEFAULT_SIZE.referrals)} referrals …`,
  );
  const sandbox = await startSandbox(
    { pool, log },
    {
      ...DEFAULT_SIZE,
      // Of today: on the status page the last weeks would be empty otherwise.
      asOf: new Date(new Date().setUTCHours(0, 0, 0, 0)),
      schema: PROGRAM_SCHEMA,
      host: SANDBOX_HOST,
      port: 0,
      secret: SANDBOX_SECRET,
      rateLimit: null,
      faults: NO_FAULTS,
      live: null,
      reset: false,
      spelling: 'live',
      optionalLists: OPTIONAL_LISTS,
    },
  );
  lifetime.onClose(() => sandbox.close());
  print(
    `   ${sandbox.isSeeded ? 'made up, and answers' : 'still there from an earlier demo; it answers'} at ${sandbox.url}`,
  );
  return sandbox;
}

async function makeMirror(
  { config: { mirrorSchema, personalData } }: DemoSession,
  { pool, db }: OpenDatabase,
): Promise<Treatment> {
  const { applied } = await runMigrations(pool, { schema: mirrorSchema });
  await markAsDemo(pool, mirrorSchema);
  const treatment = await openTreatment(db, personalData, { mayAdopt: true });
  const when = applied.length === 0 ? 'there already' : 'made now';
  print(`3. The mirror's tables: schema ${mirrorSchema}, ${when}`);
  return treatment;
}

/** Returns the runs of one whole sync. */
async function mirror(deps: PaymentDeps, config: Config, url: string): Promise<readonly RunSummary[]> {
  print('4. The sync:');
  const api = { ...config.api, rateLimit: null };
  const program = { url, secret: SANDBOX_SECRET, proxy: null };
  const client = makeProgramClient(deps, { ...api, ...program, priority: 'reads' });
  const syncDeps = { ...deps, api: client, onProgress: () => {}, onStopped: () => {} };
  // Whatever is configured for another program: this one is asked, and says that it has them.
  const findLists = makeFindLists(deps, { config: { ...config, api, optionalLists: AUTO }, program });
  const runs: RunSummary[] = [];
  for await (const resource of chooseResources([], 'full', findLists)) {
    const how = { mode: 'full', acceptDeletes: false, signal: deps.lifetime.signal } as const;
    const run = await runSync(syncDeps, { resource, ...how });
    print(`   ${describeRun(run)}`);
    runs.push(run);
  }
  return runs;
}

/** Returns whether the payments ended as they were meant to. */
async function showPayments(
  pool: Pool,
  due: readonly DueCommission[],
  deps: PaymentDeps,
  timeoutMs: number,
  url: string,
): Promise<boolean> {
  if (due.length === 0) {
    print(
      '\n5. The payments: earlier demos have paid everything that is payable ("commissions status" shows them)',
    );
    return true;
  }
  print(`\n5. The payments: of the commissions that are payable, ${due.length} are to be marked paid in the program.
Each request says what it expects to find. The last one expects a wrong amount, on purpose: it ends as a conflict,
nothing is sent for it, and its commission stays unpaid (until the next demo, which expects the right amount).`);
  const { outcome, isAsMeant } = await payDue(deps, { url, secret: SANDBOX_SECRET, timeoutMs }, due);
  await showExample(pool, outcome);
  return isAsMeant;
}

/** Returns whether the mirror has what the program says that it has. */
async function showComparison(pool: Pool, runs: readonly RunSummary[]): Promise<boolean> {
  const comparison = await compareWithProgram(pool, PROGRAM_SCHEMA, runs);
  print('\nWhat was mirrored, and what the program itself says it has:');
  print(
    renderTable(
      ['table', 'rows', 'program has', 'verified'],
      comparison.map(({ table, rows, programHas, isVerified }) => [table, rows, programHas, isVerified]),
    ),
  );
  return comparison.every(({ isVerified }) => isVerified);
}

function printWayOn({ isEmbedded, psqlCommand }: OpenDatabase, isOnce: boolean): void {
  print(
    isOnce && isEmbedded
      ? '\nIts Postgres stops now, unless another process uses it: "npx affiliate-mirror demo" keeps it up, so that you can ask it yourself.'
      : `\nAsk it yourself:\n  ${psqlCommand}`,
  );
}

function printWhatToTry(page: string, programUrl: string, isOwnDatabase: boolean): void {
  const where = isOwnDatabase ? ' with the same DATABASE_URL' : '';
  print(`\nThe status page is at ${page}
The program and Postgres stay up until Ctrl-C. To try the other commands meanwhile, in another terminal${where}:
  export AFFILIATE_API_URL=${programUrl} AFFILIATE_API_SECRET=${SANDBOX_SECRET} API_RATE_LIMIT=none
  npx affiliate-mirror sync
  npx affiliate-mirror commissions status
  npx affiliate-mirror status`);
}

async function showExample(pool: Pool, example: Example): Promise<void> {
  print(`\n${example.question}\n\n${example.query.replace(/^/gm, '  ')}\n`);
  print(await runExample(pool, example));
}

function describeRun(run: RunSummary): string {
  const changes = `${formatCount(run.rows_inserted)} new, ${formatCount(run.rows_updated)} changed, ${formatCount(run.rows_unchanged)} unchanged`;
  return `${run.resource}: ${formatCount(run.distinct_seen)} records in ${run.pages} pages, ${formatDuration(run.duration_ms)}: ${changes}`;
}
