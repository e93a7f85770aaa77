// The command `sync`: one run of each resource that is asked for, in the foreground.

import { Argument, type Command, Option } from 'commander';
import type { Config, ProgramAddress } from '../../config/config.ts';
import { describeBlindSpots } from '../../contract/delta-blind-spots.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import { checkParts } from '../../db/check-parts.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { runMigrations } from '../../db/migrate.ts';
import { calmLevel, type Logger, makeLogger } from '../../log.ts';
import type { RunSummary, SyncMode, SyncProgress } from '../../sync/run-summary.ts';
import { runSync } from '../../sync/run-sync.ts';
import { canDrawStatusLine } from '../../terminal.ts';
import { inTrace } from '../../tracing/span.ts';
import { makeBudgetWaitNote } from '../budget-wait.ts';
import type { Cli } from '../cli.ts';
import { readCliProgramConfig } from '../configuration.ts';
import { refuseDemoMirror } from '../demo/mark.ts';
import type { ExitCode } from '../exit-code.ts';
import { type Lifetime, Stopped } from '../lifetime.ts';
import { type OpenDatabase, openDatabase } from '../open-database.ts';
import { printError } from '../output/print.ts';
import { makeProgress } from '../output/progress.ts';
import { openTreatment } from '../personal-data.ts';
import { makeProgramClient } from '../program-client.ts';
import { asListError, chooseResources, type FindLists, makeFindLists } from '../sync/find-lists.ts';
import { conclude, describeReached, printRuns, type Reached, readProgress } from '../sync/outcome.ts';
import { openTracing } from '../tracing.ts';

interface SyncFlags {
  readonly mode: SyncMode;
  readonly migrate?: true;
  readonly acceptDeletes?: true;
  readonly acceptProgram?: true;
  readonly json?: true;
}

const HELP = `
Without a resource, all are synced: affiliates, referrals, and campaigns and commissions where the program lists them.
A stopped sync goes on where it was when it is started again.
Where that is more than two minutes after it began, it ends unverified (exit code 3), and the next one reads afresh.

--mode delta reads all affiliates, the newest referrals, and the referrals of those affiliates whose counters say that
something else changed; where that would cost no less, or nothing was ever read, it reads everything. It needs the
affiliates' counters, so it always syncs affiliates first, also where only referrals are named. Of campaigns it reads
all; of commissions the newest, those that are pending or due, and one by one those that were. The plan and the requests that it expects to need are part of the result.
${describeBlindSpots()}
How long ago everything was last read: affiliate-mirror status.

A sync fails with PROGRAM_CHANGED, before it writes anything, if the API has none of the records that the mirror has:
then another account is configured. Only if all records of this account were really replaced, --accept-program goes on;
the former records are held back as deletions, or with --accept-deletes marked deleted.

Examples:
  $ affiliate-mirror sync --migrate
  $ affiliate-mirror sync --mode delta
  $ affiliate-mirror sync referrals --json > runs.json

Exit code 3: it finished, but rows were rejected (see the table rejected_records), deletions were held back
(see "affiliate-mirror deletions"), the counts could not be verified, or it is
not known whether the program lists its campaigns or commissions, which were left out.
Exit code 4: another process syncs a resource already, which was left to it; the result says which.`;

export function registerSync(root: Command, cli: Cli): void {
  root
    .command('sync')
    .description('mirror the program once, in the foreground')
    .addArgument(new Argument('[resources...]', 'what to sync').choices(LISTED_RESOURCES))
    .addOption(
      new Option(
        '--mode <mode>',
        'full: read everything; delta: only what changed, as far as the program tells',
      )
        .choices(['full', 'delta'])
        .default('full'),
    )
    .option('--migrate', 'make the tables, or bring them up to date, first')
    .option('--accept-deletes', 'mark as deleted also where suspiciously many rows are gone')
    .option('--accept-program', 'go on although the API has none of the records that the mirror has')
    .option('--json', 'print every run that was begun as one JSON document, also where one fails')
    .addHelpText('after', HELP)
    .action((resources: ListedResource[], flags: SyncFlags) =>
      cli.run((lifetime) => sync(cli, lifetime, resources, flags)),
    );
}

async function sync(
  cli: Cli,
  lifetime: Lifetime,
  resources: readonly ListedResource[],
  flags: SyncFlags,
): Promise<ExitCode> {
  const { config, program } = readCliProgramConfig(cli, { isLogging: true });
  const isWatched = canDrawStatusLine() && !['trace', 'debug'].includes(config.logLevel);
  const log = makeLogger(isWatched ? calmLevel(config.logLevel) : config.logLevel);
  await openTracing({ log, lifetime }, config);
  return await inTrace('sync', { attributes: { mode: flags.mode } }, () =>
    syncAll({ config, program, log, isWatched, lifetime }, resources, flags),
  );
}

interface SyncSession {
  readonly config: Config;
  readonly program: ProgramAddress;
  readonly log: Logger;
  /** Whether somebody looks at the terminal. */
  readonly isWatched: boolean;
  readonly lifetime: Lifetime;
}

async function syncAll(
  session: SyncSession,
  resources: readonly ListedResource[],
  flags: SyncFlags,
): Promise<ExitCode> {
  const { config, program, log, isWatched, lifetime } = session;
  const budgetWait = makeBudgetWaitNote();
  const view = makeProgress({
    budgetWait,
    isWatched,
    logProgress: (fields) => log.info(fields, 'sync.progress'),
  });
  lifetime.onClose(async () => view.finish());

  const database = await openDatabase({ log, lifetime }, config, 'sync');
  const { db } = database;
  await refuseDemoMirror(database.pool, config.mirrorSchema, program.url);
  const mayMigrate = flags.migrate === true;
  await prepareTables(session, database, { mayMigrate });
  const treatment = await openTreatment(db, config.personalData, { mayAdopt: mayMigrate });

  const reached: Reached = { runs: [], stopped: [], unsaid: new Map(), last: null };
  const clientDeps = { db, log, lifetime, ...(isWatched && { onWait: budgetWait.note }) };
  const deps = {
    api: makeProgramClient(clientDeps, { ...config.api, ...program, priority: 'reads' }),
    db,
    log,
    treatment,
    onProgress: (progress: SyncProgress) => {
      reached.last = progress;
      view.show(readProgress(progress));
    },
    onStopped: (run: RunSummary) => reached.stopped.push(run),
  };
  const askForLists = makeFindLists({ db, log, lifetime }, { config, program });
  try {
    await syncEach(
      {
        findLists: async (lists) => {
          const found = await askForLists(lists);
          for (const [resource, problem] of found.problems) {
            if (!found.used.includes(resource)) reached.unsaid.set(resource, problem);
          }
          return found;
        },
        syncOne: async (resource) => {
          const how = {
            mode: flags.mode,
            acceptDeletes: flags.acceptDeletes === true,
            acceptProgram: flags.acceptProgram === true,
            signal: lifetime.signal,
          };
          const run = await runSync(deps, { resource, ...how }).catch((error: unknown) => {
            throw asListError(error, resource, config);
          });
          reached.runs.push(run);
          reached.last = null;
          view.finish();
          return run;
        },
      },
      { resources, mode: flags.mode },
    );
  } catch (error) {
    throw error instanceof Stopped ? error.saying(describeReached(reached.last)) : error;
  } finally {
    // Also where the second run fails: the first one is done, and stays done.
    view.finish();
    printRuns(reached, { isJson: flags.json === true });
  }
  return conclude(reached);
}

async function prepareTables(
  { config: { mirrorSchema, redisUrl }, lifetime }: SyncSession,
  { pool, url }: OpenDatabase,
  { mayMigrate }: { mayMigrate: boolean },
): Promise<void> {
  if (mayMigrate) {
    await runMigrations(pool, { schema: mirrorSchema, signal: lifetime.signal });
    // BullMQ takes a fifth of the start-up, and only its tables need it here.
    const { migrateQueue } = await import('../../queue/queue-tables.ts');
    await migrateQueue(pool, { redisUrl, mirrorSchema, databaseUrl: url });
    await checkParts(pool, mirrorSchema);
  }
  await checkSchema(pool, { schema: mirrorSchema });
}

async function syncEach(
  deps: { findLists: FindLists; syncOne: (resource: ListedResource) => Promise<RunSummary> },
  { resources, mode }: { resources: readonly ListedResource[]; mode: SyncMode },
): Promise<void> {
  let hasCounters = true;
  for await (const resource of chooseResources(resources, mode, deps.findLists)) {
    if (resource === 'referrals' && !hasCounters) continue;
    const run = await deps.syncOne(resource);
    if (mode === 'delta' && resource === 'affiliates' && run.state === 'skipped') {
      // Counters of before somebody else's run would hide from a delta what it looks for.
      printError('affiliate-mirror: without the affiliates, no delta of referrals');
      hasCounters = false;
    }
  }
}
