// The command `status`: whether all is well, how fresh the mirror is, and on demand everything else.

import { Argument, type Command } from 'commander';
import { formatDuration, formatTimestamp } from '../../contract/format.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { ConfigError } from '../../errors.ts';
import { makeLogger } from '../../log.ts';
import { findConcerns, isStale } from '../../reports/find-concerns.ts';
import { readGrowth } from '../../reports/read-growth.ts';
import { type MirrorStatus, readStatus } from '../../reports/read-status.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import { readDiskSpace } from '../disk-space.ts';
import type { StatusDocument } from '../documents/status.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { print, printError, printJson } from '../output/print.ts';
import { parseDuration } from '../parse-moment.ts';
import { renderConcerns, renderFreshness, SECTIONS } from '../status/sections.ts';

interface StatusFlags {
  readonly all?: true;
  readonly json?: true;
  /** Seconds. */
  readonly maxAge?: number;
}

const NAMES = Object.keys(SECTIONS);

const HELP = `
The first line says whether all is well; if not, what is wrong, and what to run. Then comes how fresh each resource is,
and on demand one section:
  runs       the last runs, what each read and changed, and why it did not succeed
  rows       how many rows each table has, and the known commissions
  budget     how much of the account's request limit is used
  drift      what a delta does not see, and where the program differs from its contract
  payments   requests for payment by state, and the last batches
  growth     how large each table is, how fast it grows, and when the disk is full at this rate

Examples:
  $ affiliate-mirror status
  $ affiliate-mirror status runs
  $ affiliate-mirror status --max-age 26h

A resource that no sync has verified for 26 hours is stale (STALE_AFTER_HOURS), or for as long as --max-age says.
Exit code 3: with --max-age, a resource is stale. Each is named on stderr.`;

export function registerStatus(root: Command, cli: Cli): void {
  root
    .command('status')
    .description('whether all is well, how fresh the mirror is, what the last runs did')
    .addArgument(new Argument('[section]', 'one section instead of how fresh it is').choices(NAMES))
    .option('--all', 'every section')
    .option('--json', 'print everything as one JSON document')
    .option('--max-age <duration>', 'fail where a resource is older, such as 90m, 26h or 2d', parseDuration)
    .addHelpText('after', HELP)
    .action((section: string | undefined, flags: StatusFlags) =>
      cli.run((lifetime) => showStatus(cli, lifetime, section, flags)),
    );
}

async function showStatus(
  cli: Cli,
  lifetime: Lifetime,
  section: string | undefined,
  { all, json, maxAge }: StatusFlags,
): Promise<ExitCode> {
  if (section !== undefined && (all === true || json === true)) {
    const flag = all === true ? '--all' : '--json';
    throw new ConfigError([`${flag} prints every section: leave out ${section}`]);
  }
  const config = readCliConfig(cli);
  const log = makeLogger(config.logLevel);
  const { pool, db, name } = await openDatabase({ log, lifetime }, config, 'status', { endsAtOnce: true });
  await checkSchema(pool, { schema: config.mirrorSchema });
  const reader = { db, mirrorSchema: config.mirrorSchema };
  const { growth } = await readGrowth({ ...reader, readSpace: () => readDiskSpace(config) });
  const status = { ...(await readStatus(reader)), growth };
  const concerns = findConcerns(status, { growth, maxAgeSeconds: maxAge ?? config.staleAfterSeconds });
  if (json === true) {
    printJson({ is_well: concerns.length === 0, concerns, ...status } satisfies StatusDocument);
  } else {
    const place = `Schema ${config.mirrorSchema} in ${name}`;
    const sections = section === undefined ? (all === true ? NAMES : []) : [section];
    const shown = sections.map((one) => SECTIONS[one]?.(status) ?? '');
    const freshness = section === undefined ? [`${place}\n${renderFreshness(status)}`] : [];
    print([renderConcerns(concerns), ...freshness, ...shown].join('\n\n'));
    if (sections.length === 0) print(`\nMore: affiliate-mirror status ${NAMES.join('|')}, or --all`);
  }
  return maxAge === undefined ? 0 : judgeAge(status, maxAge);
}

function judgeAge({ resources }: MirrorStatus, maxAgeSeconds: number): ExitCode {
  const stale = resources.filter((resource) => isStale(resource, maxAgeSeconds));
  for (const { resource, changes_as_of, changes_age_seconds } of stale) {
    const age =
      changes_as_of === null || changes_age_seconds === null
        ? 'never synced and verified'
        : `as of ${formatTimestamp(changes_as_of)}, ${formatDuration(changes_age_seconds * 1000)} ago`;
    const most = formatDuration(maxAgeSeconds * 1000);
    printError(`affiliate-mirror: ${resource}: stale: ${age}; at most ${most} was asked for`);
  }
  return stale.length === 0 ? 0 : 3;
}
