// The command `sync`: one run of each resource that is asked for, in the foreground.

import { Argument, type Command, Option } from 'commander';
import { readProgramConfig } from '../../config/config.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { checkSchema } from '../../db/check-schema.ts';
import type { Database } from '../../db/database.ts';
import { runMigrations } from '../../db/migrate.ts';
import { calmLevel, makeLogger } from '../../log.ts';
import { readFreshness } from '../../reports/read-freshness.ts';
import { DELTA_BLIND_SPOTS, describeBlindSpots } from '../../sync/delta-blind-spots.ts';
import type { RunSummary, SyncMode } from '../../sync/run-summary.ts';
import type { Cli } from '../cli.ts';
import { refuseDemoMirror } from '../demo-mark.ts';
import type { ExitCode } from '../exit-code.ts';
import { formatDuration, formatInstant } from '../format.ts';
import type { Lifetime } from '../lifetime.ts';
import { makeSync } from '../make-sync.ts';
import { openDatabase } from '../open-database.ts';
import { print, printError, printJson } from '../print.ts';
import { describeConcerns, renderRuns, runAsJson } from '../render-runs.ts';
import { makeProgressBar, makeProgressLog } from '../sync-progress.ts';

interface SyncFlags {
  readonly mode: SyncMode;
  readonly migrate?: true;
  readonly acceptDeletes?: true;
  readonly json?: true;
}

const HELP = `
Without a resource, both are synced: affiliates, then referrals.
A stopped sync goes on where it was when it is started again.
Where that is more than two minutes after it began, it ends unverified (exit code 3), and the next one reads afresh.

--mode delta reads all affiliates, the newest referrals, and the referrals of those affiliates whose counters say that
something else changed; where that would cost no less, or nothing was ever read, it reads everything. It needs the
affiliates' counters, so it always syncs affiliates first, also where only referrals are named. The plan and the
requests that it expects to need are part of the result.
${describeBlindSpots()}
How long ago everything was last read: affiliate-mirror status.

Examples:
  $ affiliate-mirror sync --migrate
  $ affiliate-mirror sync --mode delta
  $ affiliate-mirror sync referrals --json > runs.json

Exit code 3: it finished, but rows were rejected (see the table rejected_records), deletions were held back
(see --accept-deletes) or the counts could not be verified.`;

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
    .option('--json', 'print the result as one JSON document')
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
  const { config, program } = readProgramConfig(cli.environment);
  const hasBar = process.stderr.isTTY === true && !['trace', 'debug'].includes(config.logLevel);
  // Every line of the log tears the bar apart.
  const log = makeLogger(hasBar ? calmLevel(config.logLevel) : config.logLevel);
  const { rateLimit } = config.api;
  const view = hasBar ? makeProgressBar(process.stderr, rateLimit) : makeProgressLog({ log }, rateLimit);
  lifetime.onClose(async () => view.finish());

  const { pool, db, url } = await openDatabase({ log, lifetime }, config, 'sync');
  await refuseDemoMirror(pool, config.mirrorSchema, program.url);
  const { mirrorSchema, redisUrl } = config;
  if (flags.migrate === true) {
    await runMigrations(pool, { schema: mirrorSchema });
    // BullMQ takes a fifth of the start-up, and only its tables need it here.
    const { migrateQueue } = await import('../../queue/backend.ts');
    await migrateQueue(pool, { redisUrl, mirrorSchema, databaseUrl: url });
  } else {
    await checkSchema(pool, { schema: mirrorSchema });
  }

  const syncOne = makeSync({ db, log, lifetime, onProgress: view.show }, { ...config.api, ...program });
  const runs: RunSummary[] = [];
  try {
    for (const resource of chooseResources(resources, flags.mode)) {
      const run = await syncOne(resource, { mode: flags.mode, acceptDeletes: flags.acceptDeletes === true });
      runs.push(run);
      view.finish();
      if (flags.mode === 'delta' && run.state === 'skipped') {
        // Counters of before somebody else's run would hide from a delta what it looks for.
        if (resource === 'affiliates')
          printError('affiliate-mirror: without the affiliates, no delta of referrals');
        break;
      }
    }
  } finally {
    // Also where the second run fails: the first one is done, and stays done.
    view.finish();
    const blindSpots = runs.some(hasBlindSpots) ? await readBlindSpots(db) : null;
    if (flags.json === true) printJson({ runs: runs.map(runAsJson), blind_spots: blindSpots });
    else if (runs.length > 0) print(renderRuns(runs));
    if (blindSpots !== null) printError(describeDelta(blindSpots));
  }
  const concerns = runs.flatMap(describeConcerns);
  for (const concern of concerns) printError(`affiliate-mirror: ${concern}`);
  if (runs.some((run) => run.state === 'skipped')) return 1;
  return concerns.length > 0 ? 3 : 0;
}

function chooseResources(named: readonly ListedResource[], mode: SyncMode): readonly ListedResource[] {
  if (named.length === 0) return LISTED_RESOURCES;
  if (mode === 'full' || named.includes('affiliates')) {
    return LISTED_RESOURCES.filter((resource) => named.includes(resource));
  }
  printError(
    'affiliate-mirror: a delta of referrals needs the affiliates’ counters: affiliates are synced first',
  );
  return LISTED_RESOURCES;
}

function hasBlindSpots({ mode, resource, plan }: RunSummary): boolean {
  return mode === 'delta' && resource === 'referrals' && plan?.strategy === 'delta';
}

interface BlindSpots {
  readonly does_not_see: readonly string[];
  readonly everything_read_as_of: Timestamp | null;
  readonly everything_read_age_seconds: number | null;
}

async function readBlindSpots(db: Database): Promise<BlindSpots> {
  const referrals = (await readFreshness(db)).find(({ resource }) => resource === 'referrals');
  return {
    does_not_see: DELTA_BLIND_SPOTS,
    everything_read_as_of: referrals?.full_as_of ?? null,
    everything_read_age_seconds: referrals?.full_age_seconds ?? null,
  };
}

function describeDelta({ everything_read_as_of: at, everything_read_age_seconds: age }: BlindSpots): string {
  const when =
    at === null || age === null
      ? 'have never all been read'
      : `were all read last at ${formatInstant(at)}, ${formatDuration(age * 1000)} ago`;
  return `affiliate-mirror: referrals ${when}; what changed since without a trace, this delta did not see (sync --help)`;
}
