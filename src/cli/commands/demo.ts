// The command `demo`: the product on small numbers, from an empty directory. A made-up affiliate program in which time
// passes, and the worker of the command `work` with short schedules.

import type { Command } from 'commander';
import { calmLevel, makeLogger } from '../../base/log.ts';
import { sleep } from '../../base/sleep.ts';
import type { Config } from '../../config/config.ts';
import { formatCount } from '../../contract/format.ts';
import { OPTIONAL_LISTS } from '../../contract/optional-lists.ts';
import { LISTED_RESOURCES } from '../../contract/resources.ts';
import { readClock } from '../../db/clock.ts';
import { runMigrations } from '../../db/migrate/migrate.ts';
import { adoptMode } from '../../mirror/people/switch-mode.ts';
import { NO_FAULTS } from '../../sandbox/fault-plan.ts';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import { migrateQueue } from '../../worker/queue/queue-tables.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import { markAsDemo, refuseForeignMirror } from '../demo/mark.ts';
import {
  choosePayable,
  describePayouts,
  outcomeOf,
  PAYABLE_TODAY,
  payDue,
  showComparison,
  showExample,
  tellEvent,
  tellRun,
} from '../demo/tour.ts';
import type { ExitCode } from '../exit-code.ts';
import { type Lifetime, untilStopped } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { print, printError } from '../output/print.ts';
import { openProgram, type Program } from '../program.ts';
import { describeDoubts, describeRun } from '../sync/render-runs.ts';
import { openTracing } from '../tracing.ts';
import { startWork } from '../worker/start-work.ts';
import { DEFAULT_SIZE, SANDBOX_CONNECTIONS, SANDBOX_HOST, SANDBOX_SECRET } from './sandbox.ts';

/** Not the schema of the command `sandbox`, whose program may be of another size. */
export const PROGRAM_SCHEMA = 'demo_program';

/** Enough for a full sync and the deltas. */
const RATE_LIMIT = { requests: 300, windowSeconds: 30 };
const DELTA_SECONDS = 20;
const FULL_MINUTES = 3;
const EVENTS_PER_SECOND = 0.5;
/** Three that are applied, and the conflict. */
const PAYMENTS = 4;

export const command: CommandFile = {
  register,
  connections: { pool: 6, queue: 5, isWriting: true },
  programs: null,
};

function register(root: Command, cli: Cli): void {
  root
    .command('demo')
    .description('see it work: a made-up program, mirrored on this machine')
    .option('--once', 'end after the first sync')
    .addHelpText(
      'after',
      `
Needs nothing: starts its own Postgres under DATA_DIR (uses DATABASE_URL where it is set), makes up a program with
${formatCount(DEFAULT_SIZE.affiliates)} affiliates and ${formatCount(DEFAULT_SIZE.referrals)} referrals that lists its commissions and payouts too, and starts a worker for it, with its
status page at STATUS_PORT, or at any free one where that is taken. It shows what finance would pay today, and pays a
few of that. Then time passes in the affiliate program until Ctrl-C: a delta sync every ${DELTA_SECONDS} seconds, a full one every ${FULL_MINUTES} minutes. The
data stay where they are; the next demo finds them.`,
    )
    .action(({ once }: { once?: true }) => cli.run((lifetime) => demonstrate(cli, lifetime, once === true)));
}

async function demonstrate(cli: Cli, lifetime: Lifetime, isOnce: boolean): Promise<ExitCode> {
  const config = configOfDemo(readCliConfig(cli, { servesPage: true }));
  const log = makeLogger(calmLevel(config.process.logLevel));
  await openTracing({ log, lifetime }, config.process);

  print('affiliate-mirror demo: a made-up affiliate program, mirrored into Postgres on this machine.\n');
  const { databaseUrl, dataDir } = config.process;
  print(
    `1. Postgres: ${databaseUrl === null ? `its own, with its data under ${dataDir}` : 'the one of DATABASE_URL'} …`,
  );
  const program = await openProgram(cli, lifetime, { config, log });
  print(`   ${program.database.name}`);
  await refuseForeignMirror(program.pool, program.mirrorSchema);
  const sandbox = await startProgram(config, program);
  await makeMirror(program);

  const runs: RunSummary[] = [];
  let isMoving = false;
  const onRun = (run: RunSummary) => {
    if (isMoving) return tellRun(run);
    runs.push(run);
    if (run.mode === 'full') print(`   ${describeRun(run)}`);
  };
  const { page, over } = await startWork(
    { ...program, schedules: await makeShortSchedules(program) },
    { url: sandbox.url, secret: SANDBOX_SECRET, proxy: null },
    { onRun, takesAnyPort: true },
  );
  print(`4. The worker: look at it while it works, at ${page}\n   Its first sync:`);
  const firstSync = await untilSynced(runs, over);

  const arePaid = await showPayments(program, over);
  print(`\n${await describePayouts(program, program.money)}`);
  const isVerified = await showComparison(program.pool, PROGRAM_SCHEMA, firstSync);
  for (const concern of firstSync.flatMap(describeDoubts)) printError(`affiliate-mirror: ${concern}`);
  printWayOn(program, isOnce);
  if (!isOnce) {
    printWhatToTry(sandbox.url, databaseUrl !== null);
    isMoving = true;
    sandbox.live.start({ eventsPerSecond: EVENTS_PER_SECOND, onEvent: tellEvent });
    await untilStopped(over);
    if (!lifetime.signal.aborted) over.throwIfAborted();
    print('\nStopping. The data stay; "npx affiliate-mirror demo" finds them again.');
  }
  return isVerified && arePaid ? 0 : 3;
}

/** Returns the configuration without the variables that are meant for a real program. */
function configOfDemo({ process, program }: Config): Config {
  return {
    process: { ...process, redisUrl: null, scheduledExports: null, alerts: { webhook: null, email: null } },
    program: {
      ...program,
      rateLimit: RATE_LIMIT,
      optionalLists: { campaigns: 'on', commissions: 'on', payouts: 'on' },
    },
  };
}

/** Returns the made-up program, filled by this demo or an earlier one. It ends with the command. */
async function startProgram(config: Config, { log, lifetime, database }: Program): Promise<Sandbox> {
  print(
    `2. The affiliate program: ${formatCount(DEFAULT_SIZE.affiliates)} affiliates and ${formatCount(DEFAULT_SIZE.referrals)} referrals …`,
  );
  // Its own pool: in a shared one, the worker could take every connection and wait for the sandbox, which needs one.
  const { shared } = await openDatabase(
    { log, lifetime },
    { ...config.process, databaseUrl: database.url },
    { name: 'sandbox', connections: SANDBOX_CONNECTIONS },
  );
  const sandbox = await startSandbox(
    { pool: shared.base, log, signal: lifetime.signal },
    {
      ...DEFAULT_SIZE,
      // Ends today, so that the status page shows the last weeks.
      asOf: new Date(new Date().setUTCHours(0, 0, 0, 0)),
      schema: PROGRAM_SCHEMA,
      host: SANDBOX_HOST,
      port: 0,
      secret: SANDBOX_SECRET,
      rateLimit: RATE_LIMIT,
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

async function makeMirror({
  pool,
  db,
  database,
  mirrorSchema,
  personalData,
  process,
}: Program): Promise<void> {
  const { applied } = await runMigrations(pool, { schema: mirrorSchema });
  await migrateQueue(pool, { redisUrl: process.redisUrl, mirrorSchema, databaseUrl: database.url });
  await markAsDemo(pool, mirrorSchema);
  await adoptMode(db, personalData);
  const when = applied.length === 0 ? 'there already' : 'made now';
  print(`3. The mirror's tables: schema ${mirrorSchema}, ${when}`);
}

/** Returns two schedules with a tick in a second. An earlier tick would not be due in a mirror made now. */
async function makeShortSchedules({ db }: Program): Promise<Program['schedules']> {
  const first = new Date((await readClock(db)).nowMs + 1000);
  const seconds = first.getUTCSeconds();
  return {
    delta: `${seconds % DELTA_SECONDS}-59/${DELTA_SECONDS} * * * * *`,
    full: `${seconds} ${first.getUTCMinutes() % FULL_MINUTES}-59/${FULL_MINUTES} * * * *`,
    timezone: 'UTC',
  };
}

/** Returns a full run of every resource, once all were read to the end. Throws: the reason of `over`. */
async function untilSynced(runs: readonly RunSummary[], over: AbortSignal): Promise<readonly RunSummary[]> {
  for (;;) {
    const whole = runs.filter(({ mode, state }) => mode === 'full' && /succeeded|partial/.test(state));
    if (LISTED_RESOURCES.every((resource) => whole.some((run) => run.resource === resource))) return whole;
    await sleep(100, over);
  }
}

/** Returns whether the payments ended as expected. */
async function showPayments({ pool, db }: Program, over: AbortSignal): Promise<boolean> {
  const due = await choosePayable(pool, PAYMENTS);
  if (due.length === 0) {
    print(
      '\n5. The payments: earlier demos have paid everything that is payable ("commissions status" shows them)',
    );
    return true;
  }
  await showExample(pool, PAYABLE_TODAY);
  print(`\n5. The payments: of the commissions that are payable, ${due.length} are to be marked paid through its API.
Each request says what it expects to find. The last one expects a wrong amount, on purpose: it ends as a conflict,
nothing is sent for it, and its commission stays unpaid.`);
  const { batchId, counts } = await payDue(db, due, over);
  over.throwIfAborted();
  await showExample(pool, outcomeOf(batchId));
  return counts.conflict === 1 && (counts.applied ?? 0) === due.length - 1;
}

function printWayOn(
  { database: { isEmbedded, describePsql }, mirrorSchema }: Program,
  isOnce: boolean,
): void {
  print(
    isOnce && isEmbedded
      ? '\nIts Postgres stops now, unless another process uses it: "npx affiliate-mirror demo" keeps it up, so that you can ask it yourself.'
      : `\nAsk it yourself:\n  ${describePsql(mirrorSchema)}`,
  );
}

function printWhatToTry(programUrl: string, isOwnDatabase: boolean): void {
  const where = isOwnDatabase ? ' with the same DATABASE_URL' : '';
  print(`\nTo try the other commands meanwhile, in another terminal${where}:
  export AFFILIATE_API_URL=${programUrl} AFFILIATE_API_SECRET=${SANDBOX_SECRET} API_RATE_LIMIT=${RATE_LIMIT.requests}/${RATE_LIMIT.windowSeconds}
  npx affiliate-mirror sync
  npx affiliate-mirror commissions status
  npx affiliate-mirror status

The affiliate program, the worker and Postgres stay up until Ctrl-C. From now on time passes in it, and this happens (times are UTC):`);
}
