// The command `status`: the concerns, how fresh the mirror is, and sections on demand.

import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { formatDuration } from '../../contract/format.ts';
import { checkSchema } from '../../db/migrate/migrate.ts';
import { isMild } from '../../reports/concern-advice.ts';
import { yesNo } from '../../reports/fields.ts';
import { concern, findConcerns, isStale } from '../../reports/find-concerns.ts';
import { readProgramSummary } from '../../reports/program-summary.ts';
import { growth, readGrowth } from '../../reports/read-growth.ts';
import { mirrorStatus, readStatus } from '../../reports/read-status.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readCliConfigs } from '../configuration.ts';
import { readDiskSpace } from '../disk-space.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { ofPrograms, openPrograms, showEach, workOnEach } from '../many-programs.ts';
import { print, printError } from '../output/print.ts';
import { parseDuration } from '../parse-moment.ts';
import { type Program, startOf } from '../program.ts';
import { renderPrograms } from '../status/programs-table.ts';
import { renderConcerns, renderFreshness, SECTIONS } from '../status/sections.ts';

interface StatusFlags {
  readonly all?: true;
  readonly check?: true;
  readonly json?: true;
  /** Seconds. */
  readonly maxAge?: number;
}

/** Programs, over as many connections. */
const READ_AT_ONCE = 4;

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

If PROGRAMS_FILE lists several programs, a line for each comes instead, the worst first; --program shows one.

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

type StatusDocument = z.infer<typeof statusDocument>;

export const command: CommandFile = {
  register,
  connections: { pool: 2, poolOfMany: READ_AT_ONCE + 1 },
  programs: 'many',
  documents: { status: statusDocument, 'status-programs': ofPrograms(statusDocument) },
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
  flags: StatusFlags,
): Promise<ExitCode> {
  const programs = await openPrograms(cli, lifetime, { configs: readCliConfigs(cli), endsAtOnce: true });
  const { signal } = lifetime;
  const isJson = flags.json === true;
  const isWhole = section !== undefined || flags.all === true;
  if (programs.length > 1 && !isJson && !isWhole) return showPrograms(programs, flags, signal);
  const how = { signal, isJson, concurrency: isJson ? READ_AT_ONCE : 1 };
  const describe = (document: StatusDocument, program: Program) => [
    describeStatus(program, document, { section, ...flags }),
  ];
  return showEach(programs, { ...how, describe }, async (program) => {
    await checkSchema(program.pool, { schema: program.mirrorSchema });
    const document = await readDocument(program, flags);
    const exitCode = judge(program, document, flags);
    return { exitCode, document };
  });
}

async function readDocument(program: Program, { maxAge }: StatusFlags): Promise<StatusDocument> {
  const { name, process } = program;
  const { growth: grown } = await readGrowth({ ...program, readSpace: () => readDiskSpace(process) });
  const status = { ...(await readStatus(program)), growth: grown };
  const maxAgeSeconds = maxAge ?? process.staleAfterSeconds;
  const concerns = findConcerns(status, { growth: grown, maxAgeSeconds, program: name });
  return { is_well: concerns.length === 0, concerns, ...status };
}

function describeStatus(
  { mirrorSchema, database }: Program,
  status: StatusDocument,
  { section, all }: StatusFlags & { readonly section: string | undefined },
): string {
  const place = `Schema ${mirrorSchema} in ${database.name}`;
  const sections = all === true ? NAMES : section === undefined ? [] : [section];
  const shown = sections.map((one) => SECTIONS[one]?.(status) ?? '');
  const freshness = section === undefined ? [`${place}\n${renderFreshness(status)}`] : [];
  const more = sections.length === 0 ? [`More: affiliate-mirror status ${NAMES.join('|')}, or --all`] : [];
  return [renderConcerns(status.concerns), ...freshness, ...shown, ...more].join('\n\n');
}

function judge(
  program: Program,
  { concerns, resources }: StatusDocument,
  { maxAge, check }: StatusFlags,
): ExitCode {
  const stale = maxAge === undefined ? [] : resources.filter((one) => isStale(one, maxAge));
  if (maxAge !== undefined && stale.length > 0) {
    const names = stale.map(({ resource }) => resource).join(', ');
    printError(
      `affiliate-mirror: ${startOf(program)}stale, older than ${formatDuration(maxAge * 1000)}: ${names}`,
    );
    return 3;
  }
  return check === true && !concerns.every(isMild) ? 5 : 0;
}

/** A line for each, from one transaction of each: what they are about in full takes ten times as long. */
async function showPrograms(
  programs: readonly Program[],
  { maxAge, check }: StatusFlags,
  signal: AbortSignal,
): Promise<ExitCode> {
  const how = { signal, concurrency: READ_AT_ONCE };
  const { exitCode, results } = await workOnEach(programs, how, async (program) => {
    await checkSchema(program.pool, { schema: program.mirrorSchema });
    const maxAgeSeconds = maxAge ?? program.process.staleAfterSeconds;
    const document = await readProgramSummary(program, { maxAgeSeconds, program: program.name });
    const { age_seconds } = document;
    if (maxAge !== undefined && (age_seconds === null || age_seconds > maxAge)) {
      printError(`affiliate-mirror: ${startOf(program)}stale, older than ${formatDuration(maxAge * 1000)}`);
      return { exitCode: 3, document };
    }
    return { exitCode: check === true && document.state === 'failing' ? 5 : 0, document };
  });
  signal.throwIfAborted();
  const summarized = results.map(({ program, worked, failure }) => ({
    name: program.name ?? '',
    summary: worked?.document ?? null,
    problem: failure?.message ?? null,
  }));
  print(renderPrograms(summarized));
  return exitCode;
}
