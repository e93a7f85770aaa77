// The command `export`: a table or view as files, on this machine or in a bucket.

import { Argument, type Command, Option } from 'commander';
import { Busy, ConfigError } from '../../base/errors.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../config/process/exports.ts';
import { counted } from '../../contract/format.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { isLackOfRights } from '../../db/database-errors.ts';
import { checkSchema } from '../../db/migrate/migrate.ts';
import { type Exported, exportRelation } from '../../exports/export-relation.ts';
import { manifest } from '../../exports/manifest.ts';
import { exportRecorded } from '../../exports/recorded-export.ts';
import {
  type CollectingTarget,
  formatOfTarget,
  isCollecting,
  parseTarget,
  type Target,
} from '../../exports/targets/target.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { isOutputLost, printError, printJson } from '../output/print.ts';
import { parseMoment } from '../parse-moment.ts';
import { openProgram } from '../program.ts';

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
Amounts are whole numbers in the API's unit; in a workbook in the currency's own, in columns named ..._major.
Times are in UTC; in a workbook as dates, in columns named ..._utc.
All rows are of one moment. The manifest is written last: an export with a manifest is whole.

--incremental exports what changed since the last one to the same directory or bucket; the first one exports everything.

Examples:
  $ affiliate-mirror export referrals -o referrals.parquet
  $ affiliate-mirror export commissions --where "paid_at is null" -o unpaid.xlsx
  $ affiliate-mirror export referrals --incremental --format parquet -o s3://warehouse/affiliates

All of it: docs/exports.md`;

export const command: CommandFile = {
  register,
  // One reads the rows, one holds the lock of an incremental export, one writes its watermark.
  connections: { pool: 3 },
  programs: 'many',
  documents: { export: manifest },
};

function register(root: Command, cli: Cli): void {
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
  const target = await parseTarget(flags.output, config.process.s3);
  const format = chooseFormat(flags, target);
  const { pool, db, mirrorSchema } = await openProgram(cli, lifetime, { config });
  await checkSchema(pool, { schema: mirrorSchema }).catch((error: unknown) => {
    // An analyst may read only the reports, and cannot see their version. An incremental export needs a table besides.
    if (incremental === true || !isLackOfRights(error)) throw error;
  });
  const { money } = config.program;
  const input = {
    mirrorSchema,
    name,
    format,
    money,
    isByDay: partitionBy === 'day',
    signal: lifetime.signal,
  };
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
  // A loss of stdout is reported by ../output/print.ts.
  if (target.kind !== 'stdout' || !isOutputLost()) report(exported, flags);
  return 0;
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

function report({ manifest: written, location }: Exported, { json }: ExportFlags): void {
  if (json === true) printJson(written);
  if (location === null) printError('nothing changed: nothing was written');
  else printError(`written: ${location} (${counted(written.rows, 'row')})`);
}
