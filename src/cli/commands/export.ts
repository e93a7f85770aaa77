// The command `export`: a table or view as files, on this machine or in a bucket.

import { Argument, type Command, Option } from 'commander';
import { Busy, ConfigError } from '../../base/errors.ts';
import { targetOf } from '../../config/process/export-target.ts';
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
import { readCliConfigs } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { ofPrograms, openPrograms, showEach } from '../many-programs.ts';
import { isOutputLost, printError } from '../output/print.ts';
import { parseMoment } from '../parse-moment.ts';
import { type Program, startOf } from '../program.ts';

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
With PROGRAMS_FILE, {program} is the name of each program: -o exports/{program}/
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
  documents: { export: manifest, 'export-programs': ofPrograms(manifest) },
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
  const configs = readCliConfigs(cli);
  const { s3 } = configs[0].process;
  const wordsOf = chooseTargets(
    flags.output,
    configs.map(({ program }) => program),
  );
  const target = await parseTarget(wordsOf(configs[0].program), s3);
  const format = chooseFormat(flags, target);
  const programs = await openPrograms(cli, lifetime, { configs });
  const isJson = flags.json === true;
  const how = { signal: lifetime.signal, isJson, describe: () => [] };
  return showEach(programs, how, async (program) => {
    const own = await parseTarget(wordsOf(program), s3);
    const exported = await exportOne(program, { name, target: own, format }, flags);
    // A loss of stdout is reported by ../output/print.ts.
    if (own.kind !== 'stdout' || !isOutputLost()) report(program, exported);
    return { exitCode: 0, document: exported.manifest };
  });
}

/** Returns the words of each program's target. Throws: ConfigError if several would have the same. */
function chooseTargets(
  output: string,
  programs: readonly Pick<Program, 'name'>[],
): (program: Pick<Program, 'name'>) => string {
  if (programs.length > 1 && targetOf(output, '') === null) {
    throw new ConfigError([
      `-o must have {program} in it, such as exports/{program}/, since ${programs.length} programs are exported: or name one with --program`,
    ]);
  }
  return ({ name }) => (name === null ? output : (targetOf(output, name) ?? output));
}

async function exportOne(
  program: Program,
  { name, target, format }: { name: string; target: Target; format: ExportFormat },
  flags: ExportFlags,
): Promise<Exported> {
  const { pool, db, mirrorSchema, money, lifetime } = program;
  const { incremental, where = null, since = null, partitionBy, output } = flags;
  await checkSchema(pool, { schema: mirrorSchema }).catch((error: unknown) => {
    // An analyst may read only the reports, and cannot see their version. An incremental export needs a table besides.
    if (incremental === true || !isLackOfRights(error)) throw error;
  });
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
    if (outcome.kind === 'busy') throw new Busy(`another process exports ${name} to ${output} already`);
    return outcome.exported;
  }
  const rows = { where, since, isForChanges: since !== null, isWrittenIfEmpty: true };
  return exportRelation(pool, { ...input, ...rows, target });
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

function report(program: Program, { manifest: written, location }: Exported): void {
  const says =
    location === null
      ? 'nothing changed: nothing was written'
      : `written: ${location} (${counted(written.rows, 'row')})`;
  printError(`${startOf(program)}${says}`);
}
