// The command `export`: a table or view as files for other programs, on this machine or in a bucket.

import { Argument, type Command, Option } from 'commander';
import { EXPORT_FORMATS, type ExportFormat } from '../../config/exports.ts';
import { counted } from '../../contract/format.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { isLackOfRights } from '../../db/as-database-error.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { Busy, ConfigError } from '../../errors.ts';
import { type Exported, exportRelation } from '../../exports/export-relation.ts';
import { exportRecorded } from '../../exports/recorded-export.ts';
import {
  type CollectingTarget,
  formatOfTarget,
  isCollecting,
  parseTarget,
  type Target,
} from '../../exports/targets/target.ts';
import { makeLogger } from '../../log.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { isOutputLost } from '../output/failure.ts';
import { printError, printJson } from '../output/print.ts';
import { parseMoment } from '../parse-moment.ts';

interface ExportFlags {
  readonly output: string;
  readonly format?: ExportFormat;
  readonly where?: string;
  readonly since?: Timestamp;
  readonly incremental?: true;
  readonly partitionBy?: 'day';
  readonly json?: true;
}

const HELP = `
A name means the view of the reports schema; with --since and --incremental the mirror's table, which has the deleted rows
too (_deleted_at). mirror.referrals names the table itself.

Where it goes (-o):
  referrals.parquet    one file, and referrals.parquet.manifest.json beside it
  exports/             a directory: exports/referrals/export=20261122T053000123456Z/, with its manifest.json
  s3://bucket/prefix   the same in S3-compatible storage (the variables of which are those of AWS)
  -                    stdout, without a manifest
All rows are of one moment. The manifest is written last: where it is, the export is whole.

--incremental exports what changed since the last one to the same directory or bucket; the first one exports everything.

Examples:
  $ affiliate-mirror export referrals -o referrals.parquet
  $ affiliate-mirror export commissions --where "paid_at is null" -o unpaid.xlsx
  $ affiliate-mirror export referrals --incremental --format parquet -o s3://warehouse/affiliates

All of it: docs/exports.md`;

export function registerExport(root: Command, cli: Cli): void {
  root
    .command('export')
    .description('write a table or view as CSV, NDJSON, Parquet or Excel, to a file or to S3')
    .addArgument(new Argument('<name>', 'of the table or view'))
    .requiredOption('-o, --output <target>', 'a file, a directory, s3://bucket/prefix, or - for stdout')
    .addOption(new Option('--format <format>', "default: as the file's name ends").choices(EXPORT_FORMATS))
    .option('--where <sql>', 'only rows for which this SQL condition is true')
    .option('--since <watermark>', 'only what changed after that, deletions included', parseMoment)
    .addOption(
      new Option('--incremental', 'only what changed since the last time').conflicts(['where', 'since']),
    )
    .addOption(new Option('--partition-by <unit>', 'a file for each of them').choices(['day']))
    .option('--json', 'print the manifest')
    .addHelpText('after', HELP)
    .action((name: string, flags: ExportFlags) =>
      cli.run((lifetime) => runExport(cli, lifetime, name, flags)),
    );
}

async function runExport(cli: Cli, lifetime: Lifetime, name: string, flags: ExportFlags): Promise<ExitCode> {
  const { incremental, where = null, since = null, partitionBy } = flags;
  const config = readCliConfig(cli);
  const target = await parseTarget(flags.output, config.s3);
  const format = chooseFormat(flags, target);
  const log = makeLogger(config.logLevel);
  const { pool, db } = await openDatabase({ log, lifetime }, config, 'export');
  const { mirrorSchema } = config;
  await checkSchema(pool, { schema: mirrorSchema }).catch((error: unknown) => {
    // An analyst reads the reports alone: whether they are of this version is for whoever may look. How far an
    // export came is in a table, which does not even exist for whoever may not look.
    if (incremental === true || !isLackOfRights(error)) throw error;
  });
  const input = { mirrorSchema, name, format, isByDay: partitionBy === 'day', signal: lifetime.signal };
  if (incremental === true) {
    const outcome = await exportRecorded(
      { pool, db },
      { ...input, target: collecting(target), isForChanges: true },
    );
    if (outcome.kind === 'busy') throw new Busy(`another process exports ${name} to ${flags.output} already`);
    report(outcome.exported, flags);
    return 0;
  }
  const rows = { where, since, isForChanges: since !== null, isWrittenIfEmpty: true };
  const exported = await exportRelation(pool, { ...input, ...rows, target });
  // What is lost of stdout is said already, and is the command's failure (../output/failure.ts).
  if (target.kind !== 'stdout' || !isOutputLost()) report(exported, flags);
  return 0;
}

function sinceThen(since: Timestamp | null): string {
  return since === null ? ', and there is still no row' : ` since ${since}`;
}

/** Throws: ConfigError naming what does not fit together. */
function chooseFormat({ format, json, partitionBy }: ExportFlags, target: Target): ExportFormat {
  const problems: string[] = [];
  const chosen = format ?? formatOfTarget(target);
  if (chosen === null)
    problems.push(`the name of the target says no format: add --format ${EXPORT_FORMATS.join('|')}`);
  if (json === true && target.kind === 'stdout')
    problems.push('-o - and --json both need stdout: leave out one of them');
  if (partitionBy !== undefined && !isCollecting(target)) {
    problems.push(
      '--partition-by makes several files: give a directory (with a slash at its end) or s3://bucket/prefix',
    );
  }
  if (chosen === null || problems.length > 0) throw new ConfigError(problems);
  return chosen;
}

/** Throws: ConfigError. */
function collecting(target: Target): CollectingTarget {
  if (isCollecting(target)) return target;
  throw new ConfigError([
    '--incremental adds one export to the other: give a directory (with a slash at its end) or s3://bucket/prefix',
  ]);
}

function report({ manifest, location }: Exported, { json }: ExportFlags): void {
  if (json === true) printJson(manifest);
  if (location === null) printError(`nothing changed${sinceThen(manifest.since)}: nothing was written`);
  else printError(`written: ${location} (${counted(manifest.rows, 'row')})`);
}
