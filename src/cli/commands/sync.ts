// The command `sync`: one run of each resource, in the foreground.

import { Argument, type Command, Option } from 'commander';
import { inTrace } from '../../base/span.ts';
import { canDrawStatusLine } from '../../base/terminal.ts';
import { describeBlindSpots } from '../../contract/delta-blind-spots.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readBaseSchema, readCliProgramConfigs } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { areListed, openPrograms } from '../many-programs.ts';
import { makeTerminalLogger } from '../program.ts';
import { conclude, makeReached, printRuns, syncDocument, syncProgramsDocument } from '../sync/outcome.ts';
import { connect, type SyncFlags, syncAll } from '../sync/sync-program.ts';
import { syncPrograms } from '../sync/sync-programs.ts';
import { openTracing } from '../tracing.ts';

const HELP = `
Without a resource, all are synced: affiliates, referrals, and campaigns, commissions and payouts if the API lists them.
A stopped sync goes on where it was when it is started again. If that is more than two minutes after it began, it ends
unverified (exit code 3), and the next one reads afresh.

Programs of PROGRAMS_FILE are synced eight at once, with a line for each run.

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
  documents: { sync: syncDocument, 'sync-programs': syncProgramsDocument },
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
  const configs = readCliProgramConfigs(cli);
  const { process } = configs[0];
  const log = makeTerminalLogger(configs[0]);
  await openTracing({ log, lifetime }, process);
  const isWatched = canDrawStatusLine() && !['trace', 'debug'].includes(process.logLevel);
  const open = () => openPrograms(cli, lifetime, { configs, log });
  if (areListed(configs.map(({ program }) => program))) {
    return syncPrograms(await open(), { resources, lifetime, queue: readBaseSchema(cli) }, flags);
  }
  return inTrace('sync', { attributes: { mode: flags.mode } }, async () => {
    const [program] = await open();
    const reached = makeReached();
    const connected = await connect(program, { ...flags, isWatched });
    try {
      await syncAll(connected, resources, { ...flags, isWatched, reached });
    } finally {
      // Also if the second run fails: the first one is done, and stays done.
      printRuns(reached, { isJson: flags.json === true });
    }
    return conclude(reached);
  });
}
