// The command `sync`: one run of each resource, in the foreground.

import { Argument, type Command, Option } from 'commander';
import { inTrace } from '../../base/span.ts';
import { canDrawStatusLine } from '../../base/terminal.ts';
import { describeBlindSpots } from '../../contract/delta-blind-spots.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import { checkParts } from '../../db/migrate/check-parts.ts';
import { checkSchema, runMigrations } from '../../db/migrate/migrate.ts';
import type { RunSummary, SyncMode, SyncProgress } from '../../sync/run-summary.ts';
import { runSync } from '../../sync/run-sync.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readCliProgramConfig } from '../configuration.ts';
import { type ConnectedProgram, connectProgram } from '../connect-program.ts';
import type { ExitCode } from '../exit-code.ts';
import { type Lifetime, Stopped } from '../lifetime.ts';
import { printError } from '../output/print.ts';
import { makeProgress } from '../output/progress.ts';
import { makeTerminalLogger, openProgram, type Program } from '../program.ts';
import { asListError, chooseResources, type FindLists, makeFindLists } from '../sync/find-lists.ts';
import {
  conclude,
  describeReached,
  printRuns,
  type Reached,
  readProgress,
  syncDocument,
} from '../sync/outcome.ts';
import { openTracing } from '../tracing.ts';

interface SyncFlags {
  readonly mode: SyncMode;
  readonly migrate?: true;
  readonly acceptDeletes?: true;
  readonly acceptProgram?: true;
  readonly json?: true;
}

const HELP = `
Without a resource, all are synced: affiliates, referrals, and campaigns, commissions and payouts if the API lists them.
A stopped sync goes on where it was when it is started again. If that is more than two minutes after it began, it ends
unverified (exit code 3), and the next one reads afresh.

--mode delta reads all affiliates and campaigns, the newest referrals, and the referrals of those affiliates whose
counters say that something else changed. If that would cost no less, or nothing was ever read, it reads everything. A
delta of referrals syncs the affiliates first, for their counters. It reads the newest commissions and payouts, those
that are still open, and one by one those that were. The result of --json has the plan and the requests that it expected.
${describeBlindSpots()}
How long ago everything was last read: affiliate-mirror status.

A sync fails with PROGRAM_CHANGED, before it writes anything, if the API has none of the records that the mirror has:
then another account is configured. Only if all records of this account were really replaced, --accept-program goes on;
the former records are held back as deletions, or with --accept-deletes marked deleted.

Examples:
  $ affiliate-mirror sync --migrate
  $ affiliate-mirror sync --mode delta
  $ affiliate-mirror sync referrals --json > runs.json

Exit code 3: it finished, but rows were rejected (see the table rejected_records), deletions were held back (see
"affiliate-mirror deletions"), the counts could not be verified, or an optional list was left out because the API did
not say whether it has it.
Exit code 4: another process syncs a resource already, which was left to it; the result says which.`;

export const command: CommandFile = {
  register,
  // A walk, its loader and the budget's permits need one each, and a few wait at once.
  connections: { pool: 8, isWriting: true },
  programs: 'many',
  documents: { sync: syncDocument },
};

function register(root: Command, cli: Cli): void {
  root
    .command('sync')
    .description('mirror the affiliate program once, in the foreground')
    .addArgument(new Argument('[resources...]', 'what to sync').choices(LISTED_RESOURCES))
    .addOption(
      new Option('--mode <mode>', 'full: read everything; delta: only what changed, as far as the API tells')
        .choices(['full', 'delta'])
        .default('full'),
    )
    .option('--migrate', 'make the tables, or bring them up to date, first')
    .option('--accept-deletes', 'mark as deleted also if suspiciously many rows are gone')
    .option('--accept-program', 'go on although the API has none of the records that the mirror has')
    .option('--json', 'print every run that was begun as one JSON document, also if one fails')
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
  const config = readCliProgramConfig(cli);
  const isWatched = canDrawStatusLine() && !['trace', 'debug'].includes(config.process.logLevel);
  const log = makeTerminalLogger(config);
  await openTracing({ log, lifetime }, config.process);
  return await inTrace('sync', { attributes: { mode: flags.mode } }, async () => {
    const opened = await openProgram(cli, lifetime, { config, log });
    const mayAdopt = flags.migrate === true;
    const prepare = () => prepareTables(opened, flags);
    const connecting = { isWatched, mayAdopt, prepare };
    const program = await connectProgram(opened, config.program.address, connecting);
    return await syncAll(program, resources, { ...flags, isWatched });
  });
}

async function syncAll(
  program: ConnectedProgram,
  resources: readonly ListedResource[],
  flags: SyncFlags & { readonly isWatched: boolean },
): Promise<ExitCode> {
  const { lifetime, log, budgetWait, clients } = program;
  const view = makeProgress({
    budgetWait,
    isWatched: flags.isWatched,
    logProgress: (fields) => log.info(fields, 'sync.progress'),
  });
  lifetime.onClose(async () => view.finish());
  const reached: Reached = { runs: [], stopped: [], unsaid: new Map(), last: null };
  const deps = {
    ...program,
    api: clients.reads,
    onProgress: (progress: SyncProgress) => {
      reached.last = progress;
      view.show(readProgress(progress));
    },
    onStopped: (run: RunSummary) => reached.stopped.push(run),
  };
  const askForLists = makeFindLists(program, clients.probe);
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
            throw asListError(error, resource, program);
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
    // Also if the second run fails: the first one is done, and stays done.
    view.finish();
    printRuns(reached, { isJson: flags.json === true });
  }
  return conclude(reached);
}

async function prepareTables(
  { pool, database, mirrorSchema, lifetime, process }: Program,
  { migrate }: SyncFlags,
): Promise<void> {
  if (migrate === true) {
    await runMigrations(pool, { schema: mirrorSchema, signal: lifetime.signal });
    // BullMQ takes a fifth of the start-up, and only its tables need it here.
    const { migrateQueue } = await import('../../worker/queue/queue-tables.ts');
    await migrateQueue(pool, { redisUrl: process.redisUrl, mirrorSchema, databaseUrl: database.url });
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
      // Older counters than those of the other process's run would hide changes from the delta.
      printError('affiliate-mirror: without the affiliates, no delta of referrals');
      hasCounters = false;
    }
  }
}
