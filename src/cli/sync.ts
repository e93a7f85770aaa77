// The command `sync`: one run of each resource that is asked for, in the foreground.

import { Argument, type Command, Option } from 'commander';
import { readProgramConfig } from '../config.ts';
import { LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import { checkSchema } from '../db/check-schema.ts';
import { runMigrations } from '../db/migrate.ts';
import { makeLogger } from '../log.ts';
import type { RunSummary } from '../sync/run-summary.ts';
import { calmLevel } from './calm-level.ts';
import type { Cli } from './cli.ts';
import { refuseDemoMirror } from './demo-mark.ts';
import type { ExitCode } from './exit-code.ts';
import type { Lifetime } from './lifetime.ts';
import { makeSync } from './make-sync.ts';
import { openDatabase } from './open-database.ts';
import { print, printError, printJson } from './print.ts';
import { describeConcerns, renderRuns, runAsJson } from './render-runs.ts';
import { makeProgressBar, makeProgressLog } from './sync-progress.ts';

interface SyncFlags {
  readonly mode: 'full';
  readonly migrate?: true;
  readonly acceptDeletes?: true;
  readonly json?: true;
}

const HELP = `
Without a resource, both are synced: affiliates, then referrals.
A stopped sync goes on where it was when it is started again.

Examples:
  $ affiliate-mirror sync --migrate
  $ affiliate-mirror sync referrals --json > runs.json

Exit code 3: it finished, but rows were rejected (see the table rejected_records), deletions were held back
(see --accept-deletes) or the counts could not be verified.`;

/** Adds the command. */
export function registerSync(program: Command, cli: Cli): void {
  program
    .command('sync')
    .description('mirror the program once, in the foreground')
    .addArgument(new Argument('[resources...]', 'what to sync').choices(LISTED_RESOURCES))
    .addOption(new Option('--mode <mode>', 'full: read everything').choices(['full']).default('full'))
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

  const { pool, db } = await openDatabase({ log, lifetime }, config, 'sync');
  await refuseDemoMirror(pool, config.mirrorSchema, program.url);
  if (flags.migrate === true) await runMigrations(pool, { schema: config.mirrorSchema });
  else await checkSchema(pool, { schema: config.mirrorSchema });

  const syncOne = makeSync({ db, log, lifetime, onProgress: view.show }, { ...config.api, ...program });
  const runs: RunSummary[] = [];
  try {
    for (const resource of LISTED_RESOURCES) {
      if (resources.length > 0 && !resources.includes(resource)) continue;
      runs.push(await syncOne(resource, flags.acceptDeletes === true));
      view.finish();
    }
  } finally {
    // Also where the second run fails: the first one is done, and stays done.
    view.finish();
    if (flags.json === true) printJson({ runs: runs.map(runAsJson) });
    else if (runs.length > 0) print(renderRuns(runs));
  }
  const concerns = runs.flatMap(describeConcerns);
  for (const concern of concerns) printError(`affiliate-mirror: ${concern}`);
  if (runs.some((run) => run.state === 'skipped')) return 1;
  return concerns.length > 0 ? 3 : 0;
}
