// The command `sync`: one run of each resource that is asked for, in the foreground.

import { Argument, type Command, Option } from 'commander';
import type { Config, ProgramAddress } from '../../config/config.ts';
import { DELTA_BLIND_SPOTS, describeBlindSpots } from '../../contract/delta-blind-spots.ts';
import { formatCount, formatDuration, formatTimestamp } from '../../contract/format.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import { asDatabaseError } from '../../db/as-database-error.ts';
import { checkSchema } from '../../db/check-schema.ts';
import type { Database } from '../../db/database.ts';
import { runMigrations } from '../../db/migrate.ts';
import { describeError } from '../../describe-error.ts';
import type { AppError } from '../../errors.ts';
import { calmLevel, type Logger, makeLogger } from '../../log.ts';
import { readFreshness } from '../../reports/read-freshness.ts';
import type { RunSummary, SyncMode, SyncProgress } from '../../sync/run-summary.ts';
import { canDrawStatusLine } from '../../terminal.ts';
import { inTrace } from '../../tracing/span.ts';
import { makeBudgetWaitNote } from '../budget-wait.ts';
import type { Cli } from '../cli.ts';
import { readCliProgramConfig } from '../configuration.ts';
import { refuseDemoMirror } from '../demo-mark.ts';
import { runAsJson, type SyncDocument } from '../documents/sync.ts';
import type { ExitCode } from '../exit-code.ts';
import { asListError, chooseResources, type FindList, makeFindList } from '../find-list.ts';
import { type Lifetime, Stopped } from '../lifetime.ts';
import { makeSync } from '../make-sync.ts';
import { openDatabase } from '../open-database.ts';
import { openPersonalData } from '../personal-data.ts';
import { print, printError, printJson } from '../print.ts';
import { describeConcerns, isDoubtful, renderRuns } from '../render-runs.ts';
import { makeProgressLog, makeProgressView } from '../sync-progress.ts';
import { openTracing } from '../tracing.ts';

interface SyncFlags {
  readonly mode: SyncMode;
  readonly migrate?: true;
  readonly acceptDeletes?: true;
  readonly json?: true;
}

const HELP = `
Without a resource, all are synced: affiliates, referrals, and commissions where the program lists them.
A stopped sync goes on where it was when it is started again.
Where that is more than two minutes after it began, it ends unverified (exit code 3), and the next one reads afresh.

--mode delta reads all affiliates, the newest referrals, and the referrals of those affiliates whose counters say that
something else changed; where that would cost no less, or nothing was ever read, it reads everything. It needs the
affiliates' counters, so it always syncs affiliates first, also where only referrals are named. Of commissions it reads
the newest, those that are pending or due, and one by one those that were. The plan and the requests that it expects to need are part of the result.
${describeBlindSpots()}
How long ago everything was last read: affiliate-mirror status.

Examples:
  $ affiliate-mirror sync --migrate
  $ affiliate-mirror sync --mode delta
  $ affiliate-mirror sync referrals --json > runs.json

Exit code 3: it finished, but rows were rejected (see the table rejected_records), deletions were held back
(see "affiliate-mirror deletions") or the counts could not be verified.
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
  { config, program, log, isWatched, lifetime }: SyncSession,
  resources: readonly ListedResource[],
  flags: SyncFlags,
): Promise<ExitCode> {
  const { rateLimit } = config.api;
  const budgetWait = makeBudgetWaitNote();
  const view = isWatched ? makeProgressView({ budgetWait }, rateLimit) : makeProgressLog({ log }, rateLimit);
  lifetime.onClose(async () => view.finish());

  const { pool, db, url } = await openDatabase({ log, lifetime }, config, 'sync');
  await refuseDemoMirror(pool, config.mirrorSchema, program.url);
  const { mirrorSchema, redisUrl } = config;
  if (flags.migrate === true) {
    await runMigrations(pool, { schema: mirrorSchema, signal: lifetime.signal });
    // BullMQ takes a fifth of the start-up, and only its tables need it here.
    const { migrateQueue } = await import('../../queue/queue-tables.ts');
    await migrateQueue(pool, { redisUrl, mirrorSchema, databaseUrl: url });
  } else {
    await checkSchema(pool, { schema: mirrorSchema });
  }

  const mayAdopt = flags.migrate === true;
  const personalData = await openPersonalData(db, config.personalData, { mayAdopt });

  let last: SyncProgress | null = null;
  const onProgress = (progress: SyncProgress) => {
    last = progress;
    view.show(progress);
  };
  const runs: RunSummary[] = [];
  const stopped: RunSummary[] = [];
  const syncOne = makeSync(
    {
      db,
      log,
      lifetime,
      personalData,
      onProgress,
      onStopped: (run) => stopped.push(run),
      ...(isWatched && { onWait: budgetWait.note }),
    },
    { ...config.api, ...program },
  );
  const askForList = makeFindList({ db, log, lifetime, personalData }, { config, program });
  const unsaid: AppError[] = [];
  const findList: FindList = async (how) => {
    const found = await askForList(how);
    if (!found.isUsed && found.problem !== null) unsaid.push(found.problem);
    return found;
  };
  let hasCounters = true;
  try {
    for await (const resource of chooseResources(resources, flags.mode, findList)) {
      if (resource === 'referrals' && !hasCounters) continue;
      const run = await syncOne(resource, {
        mode: flags.mode,
        acceptDeletes: flags.acceptDeletes === true,
      }).catch((error: unknown) => {
        throw asListError(error, { resource, setting: config.commissionList });
      });
      runs.push(run);
      last = null;
      view.finish();
      if (flags.mode === 'delta' && resource === 'affiliates' && run.state === 'skipped') {
        // Counters of before somebody else's run would hide from a delta what it looks for.
        printError('affiliate-mirror: without the affiliates, no delta of referrals');
        hasCounters = false;
      }
    }
  } catch (error) {
    throw error instanceof Stopped ? error.saying(describeReached(last)) : error;
  } finally {
    // Also where the second run fails: the first one is done, and stays done.
    view.finish();
    const blindSpots = await readBlindSpots(db, runs.filter(isDelta)).catch((error: unknown) => {
      // The runs are printed all the same, and so is the error that ended them.
      const reason = describeError(asDatabaseError(error));
      printError(`affiliate-mirror: when everything was last read is not known: ${reason}`);
      return null;
    });
    if (flags.json === true) {
      const begun = [...runs, ...stopped].map(runAsJson);
      printJson({ runs: begun, blind_spots: blindSpots } satisfies SyncDocument);
    } else {
      if (runs.length > 0) print(renderRuns(runs));
      for (const read of blindSpots?.resources ?? []) printError(describeDelta(read));
    }
  }
  for (const concern of [...runs.flatMap(describeConcerns), ...unsaid.map(describeUnsaid)]) {
    printError(`affiliate-mirror: ${concern}`);
  }
  if (unsaid.length > 0 || runs.some(isDoubtful)) return 3;
  return runs.some(({ state }) => state === 'skipped') ? 4 : 0;
}

function describeReached(last: SyncProgress | null): string {
  if (last === null) return 'nothing was being read; the next sync goes on where this one was';
  const { rows, total, resource } = last;
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  return `${formatCount(rows.seen - rows.repeated)}${of} ${resource} were read; the next sync goes on there`;
}

function describeUnsaid({ message }: AppError): string {
  return `commissions were not synced, since the program did not say whether it lists them: ${message}; COMMISSION_LIST decides it without asking`;
}

function isDelta({ plan }: RunSummary): boolean {
  return plan?.strategy === 'delta';
}

type BlindSpots = NonNullable<SyncDocument['blind_spots']>;

async function readBlindSpots(db: Database, deltas: readonly RunSummary[]): Promise<BlindSpots | null> {
  if (deltas.length === 0) return null;
  const freshness = await readFreshness(db);
  return {
    does_not_see: [...DELTA_BLIND_SPOTS],
    resources: deltas.map(({ resource }) => {
      const status = freshness.find((one) => one.resource === resource);
      return {
        resource,
        everything_read_as_of: status?.full_as_of ?? null,
        everything_read_age_seconds: status?.full_age_seconds ?? null,
      };
    }),
  };
}

function describeDelta({
  resource,
  everything_read_as_of: at,
  everything_read_age_seconds: age,
}: BlindSpots['resources'][number]): string {
  const when =
    at === null || age === null
      ? 'have never all been read'
      : `were all read last at ${formatTimestamp(at)}, ${formatDuration(age * 1000)} ago`;
  return `affiliate-mirror: ${resource} ${when}; what changed since without a trace, this delta did not see (affiliate-mirror sync --help)`;
}
