// The command `status`: the concerns, how fresh the mirror is, and sections on demand.

import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { formatDuration } from '../../contract/format.ts';
import { isMild } from '../../reports/concern-advice.ts';
import { yesNo } from '../../reports/fields.ts';
import { concern, findConcerns, isStale } from '../../reports/find-concerns.ts';
import { growth, readGrowth } from '../../reports/read-growth.ts';
import { type MirrorStatus, mirrorStatus, readStatus } from '../../reports/read-status.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readDiskSpace } from '../disk-space.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printError, printJson } from '../output/print.ts';
import { parseDuration } from '../parse-moment.ts';
import { openMirror } from '../program.ts';
import { renderConcerns, renderFreshness, SECTIONS } from '../status/sections.ts';

interface StatusFlags {
  readonly all?: true;
  readonly check?: true;
  readonly json?: true;
  /** Seconds. */
  readonly maxAge?: number;
}

const NAMES = Object.keys(SECTIONS);

const HELP = `
The first lines say whether all is well; if not, what is wrong and what to run. Then comes how fresh each resource is,
and on demand one section:
  runs       the last runs, what each read and changed, and why it did not succeed
  rows       how many rows each table has, and the known commissions
  budget     how much of the account's request limit is used
  drift      where the API differs from its contract
  payments   requests for payment by state, and the last batches
  growth     how large each table is, how fast it grows, and when the disk is full at this rate

Examples:
  $ affiliate-mirror status
  $ affiliate-mirror status runs
  $ affiliate-mirror status --check
  $ affiliate-mirror status --max-age 26h

A resource that no sync has verified for 26 hours is stale (STALE_AFTER_HOURS), or for as long as --max-age says.
Exit code 3: with --max-age, a resource is stale. Each is named on stderr.
Exit code 5: with --check, something is not well. What is not quite well (deletions held back, records rejected, a pause
that the API asked for, a resource never synced) does not count.`;

const statusDocument = z
  .object({
    is_well: yesNo('there is no concern'),
    concerns: z.array(concern).readonly().describe('what is wrong, the most serious first'),
    ...mirrorStatus.shape,
    growth: growth.describe('how large the database is, and how fast it grows'),
  })
  .meta({ title: 'affiliate-mirror status --json' });

export const command: CommandFile = {
  register,
  connections: { pool: 2 },
  programs: 'many',
  documents: { status: statusDocument },
};

function register(root: Command, cli: Cli): void {
  root
    .command('status')
    .description('whether all is well, how fresh the mirror is, what the last runs did')
    .addArgument(new Argument('[section]', 'one section instead of how fresh it is').choices(NAMES))
    .option('--all', 'every section')
    .option('--json', 'print everything as one JSON document')
    .option('--check', 'fail if something is not well, for monitors')
    .option('--max-age <duration>', 'fail if a resource is older, such as 90m, 26h or 2d', parseDuration)
    .addHelpText('after', HELP)
    .action((section: string | undefined, flags: StatusFlags) =>
      cli.run((lifetime) => showStatus(cli, lifetime, section, flags)),
    );
}

async function showStatus(
  cli: Cli,
  lifetime: Lifetime,
  section: string | undefined,
  { all, check, json, maxAge }: StatusFlags,
): Promise<ExitCode> {
  const program = await openMirror(cli, lifetime, { endsAtOnce: true });
  const { mirrorSchema, database, process } = program;
  const { growth: grown } = await readGrowth({ ...program, readSpace: () => readDiskSpace(process) });
  const status = { ...(await readStatus(program)), growth: grown };
  const maxAgeSeconds = maxAge ?? process.staleAfterSeconds;
  const concerns = findConcerns(status, { growth: grown, maxAgeSeconds });
  if (json === true) {
    printJson({ is_well: concerns.length === 0, concerns, ...status } satisfies z.infer<
      typeof statusDocument
    >);
  } else {
    const place = `Schema ${mirrorSchema} in ${database.name}`;
    const sections = all === true ? NAMES : section === undefined ? [] : [section];
    const shown = sections.map((one) => SECTIONS[one]?.(status) ?? '');
    const freshness = section === undefined ? [`${place}\n${renderFreshness(status)}`] : [];
    print([renderConcerns(concerns), ...freshness, ...shown].join('\n\n'));
    if (sections.length === 0) print(`\nMore: affiliate-mirror status ${NAMES.join('|')}, or --all`);
  }
  const judged = maxAge === undefined ? 0 : judgeAge(status, maxAge);
  return judged === 0 && check === true && !concerns.every(isMild) ? 5 : judged;
}

function judgeAge({ resources }: MirrorStatus, maxAgeSeconds: number): ExitCode {
  const stale = resources.filter((one) => isStale(one, maxAgeSeconds)).map(({ resource }) => resource);
  if (stale.length === 0) return 0;
  printError(
    `affiliate-mirror: stale, older than ${formatDuration(maxAgeSeconds * 1000)}: ${stale.join(', ')}`,
  );
  return 3;
}
