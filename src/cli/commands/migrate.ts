// The command `migrate`: brings the mirror's schema up to date, or says what it would do.

import type { Command } from 'commander';
import { z } from 'zod';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { counted } from '../../contract/format.ts';
import { refuseReadOnly } from '../../db/access/check-access.ts';
import { adviseOnMirrors } from '../../db/access/count-mirrors.ts';
import { checkParts } from '../../db/migrate/check-parts.ts';
import { listPending, runMigrations } from '../../db/migrate/migrate.ts';
import { adoptMode } from '../../mirror/people/switch-mode.ts';
import { text, yesNo } from '../../reports/fields.ts';
import { findQueueSchema, migrateQueue } from '../../worker/queue/queue-tables.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readBaseSchema, readCliConfigs } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { areListed, ofPrograms, openPrograms, showEach } from '../many-programs.ts';
import { printError } from '../output/print.ts';
import type { Program } from '../program.ts';

interface MigrateFlags {
  readonly dryRun?: true;
  readonly json?: true;
}

const HELP = `
Safe to run again, and by several processes at once.

Examples:
  $ affiliate-mirror migrate --dry-run
  $ affiliate-mirror migrate`;

const migrateDocument = z
  .object({
    schema: text('the schema of the mirror'),
    database: text('the database: its name, host and port'),
    dry_run: yesNo('nothing was changed'),
    migrations: z
      .array(z.string())
      .describe(
        'files of migrations/ in their order that are new or changed: those that were applied, or in a dry run would be',
      ),
    remade_reports: text(
      'the schema of the reports, if its views were lost and were made again, or in a dry run would be; else null',
    ).nullable(),
    queue_schema: text('the schema that keeps the queue; null if Redis does').nullable(),
  })
  .meta({ title: 'affiliate-mirror migrate --json' });

/** Programs: half of the time of each is Postgres'. */
const MIGRATED_AT_ONCE = 2;

type MigrateDocument = z.infer<typeof migrateDocument>;

export const command: CommandFile = {
  register,
  connections: { pool: 2, poolOfMany: MIGRATED_AT_ONCE + 1 },
  programs: 'many',
  documents: { migrate: migrateDocument, 'migrate-programs': ofPrograms(migrateDocument) },
};

function register(root: Command, cli: Cli): void {
  root
    .command('migrate')
    .description('make the tables of the mirror, or bring them up to date')
    .option('--dry-run', 'say which migrations would be applied; change nothing')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', HELP)
    .action((flags: MigrateFlags) => cli.run((lifetime) => migrate(cli, lifetime, flags)));
}

async function migrate(cli: Cli, lifetime: Lifetime, flags: MigrateFlags): Promise<ExitCode> {
  const programs = await openPrograms(cli, lifetime, { configs: readCliConfigs(cli) });
  const [first] = programs;
  const isDryRun = flags.dryRun === true;
  const queue = areListed(programs) ? readBaseSchema(cli) : null;
  if (!isDryRun) {
    await refuseReadOnly(first.pool);
    if (queue !== null) await migrateQueueOf(first, queue);
  }
  const how = {
    signal: lifetime.signal,
    isJson: flags.json === true,
    concurrency: MIGRATED_AT_ONCE,
    describe: (document: MigrateDocument) =>
      queue === null ? describe(document) : describeShortly(document),
  };
  const exitCode = await showEach(programs, how, async (program) => {
    const document = await migrateOne(program, { queue: queue ?? program.mirrorSchema, isDryRun });
    return { exitCode: 0, document };
  });
  const { database } = first;
  const advice = await adviseOnMirrors(database.shared.base);
  if (advice !== null) printError(`affiliate-mirror: ${database.name}: ${advice}`);
  return exitCode;
}

/** `queue` is the schema by which the queue is named: of listed programs, the queue is migrated already. */
async function migrateOne(
  program: Program,
  { queue, isDryRun }: { queue: string; isDryRun: boolean },
): Promise<MigrateDocument> {
  const { pool, db, database, personalData, process, mirrorSchema: schema, lifetime } = program;
  const { applied, hasRemadeReports } = isDryRun
    ? await listPending(pool, { schema })
    : await runMigrations(pool, { schema, signal: lifetime.signal });
  if (!isDryRun) {
    if (program.name === null) await migrateQueueOf(program, queue);
    // Finds parts that were lost after their migration was applied.
    await checkParts(pool, schema);
    await adoptMode(db, personalData);
  }
  return {
    schema,
    database: database.name,
    dry_run: isDryRun,
    migrations: [...applied],
    remade_reports: hasRemadeReports ? reportsSchema(schema) : null,
    queue_schema: findQueueSchema(process.redisUrl, queue),
  };
}

function migrateQueueOf({ pool, database, process }: Program, mirrorSchema: string): Promise<void> {
  return migrateQueue(pool, { redisUrl: process.redisUrl, mirrorSchema, databaseUrl: database.url });
}

/** Returns the line of one among many: the files are the same for all. */
function describeShortly(result: MigrateDocument): string[] {
  const { dry_run, migrations } = result;
  const files = counted(migrations.length, 'migration');
  const applied = migrations.length === 0 ? [] : [`${dry_run ? 'would apply' : 'applied'} ${files}`];
  return [describe(result, applied).join('; ')];
}

function describe(
  { schema, database, dry_run, migrations, remade_reports }: MigrateDocument,
  applied = migrations.map((migration) => `${dry_run ? 'would apply' : 'applied'} ${migration}`),
): string[] {
  const lines = [...applied];
  if (remade_reports !== null) {
    const made = dry_run ? 'would make' : 'made';
    lines.push(
      `${made} the views of schema ${remade_reports} again, which was lost: roles that read them need "affiliate-mirror grants" again`,
    );
  }
  const end = dry_run && lines.length > 0 ? ': nothing was changed' : ' is up to date';
  return [...lines, `schema ${schema} in ${database}${end}`];
}
