// The command `migrate`: brings the mirror's schema up to date, or says what it would do.

import type { Command } from 'commander';
import { z } from 'zod';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { refuseReadOnly } from '../../db/access/check-access.ts';
import { adviseOnMirrors } from '../../db/access/count-mirrors.ts';
import { checkParts } from '../../db/migrate/check-parts.ts';
import { listPending, runMigrations } from '../../db/migrate/migrate.ts';
import { adoptMode } from '../../mirror/people/switch-mode.ts';
import { text, yesNo } from '../../reports/fields.ts';
import { findQueueSchema, migrateQueue } from '../../worker/queue/queue-tables.ts';
import type { Cli, CommandFile } from '../cli.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printError, printJson } from '../output/print.ts';
import { openProgram } from '../program.ts';

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

type MigrateDocument = z.infer<typeof migrateDocument>;

export const command: CommandFile = {
  register,
  connections: { pool: 2 },
  documents: { migrate: migrateDocument },
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
  const {
    pool,
    db,
    database,
    personalData,
    process,
    mirrorSchema: schema,
  } = await openProgram(cli, lifetime);
  const { redisUrl } = process;
  const isDryRun = flags.dryRun === true;
  if (!isDryRun) await refuseReadOnly(pool);
  const { applied, hasRemadeReports } = isDryRun
    ? await listPending(pool, { schema })
    : await runMigrations(pool, { schema, signal: lifetime.signal });
  if (!isDryRun) {
    await migrateQueue(pool, { redisUrl, mirrorSchema: schema, databaseUrl: database.url });
    // Finds parts that were lost after their migration was applied.
    await checkParts(pool, schema);
    await adoptMode(db, personalData);
  }
  const advice = await adviseOnMirrors(pool);
  if (advice !== null) printError(`affiliate-mirror: ${database.name}: ${advice}`);
  const result: MigrateDocument = {
    schema,
    database: database.name,
    dry_run: isDryRun,
    migrations: [...applied],
    remade_reports: hasRemadeReports ? reportsSchema(schema) : null,
    queue_schema: findQueueSchema(redisUrl, schema),
  };
  if (flags.json === true) printJson(result);
  else for (const line of describe(result)) print(line);
  return 0;
}

function describe(result: MigrateDocument): string[] {
  const { schema, database, dry_run, migrations, remade_reports } = result;
  const lines = migrations.map((migration) => `${dry_run ? 'would apply' : 'applied'} ${migration}`);
  if (remade_reports !== null) {
    const made = dry_run ? 'would make' : 'made';
    lines.push(
      `${made} the views of schema ${remade_reports} again, which was lost: roles that read them need "affiliate-mirror grants" again`,
    );
  }
  const end = dry_run && lines.length > 0 ? ': nothing was changed' : ' is up to date';
  return [...lines, `schema ${schema} in ${database}${end}`];
}
