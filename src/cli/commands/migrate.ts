// The command `migrate`: brings the mirror's schema up to date, or says what it would do.

import type { Command } from 'commander';
import { refuseReadOnly } from '../../db/check-access.ts';
import { checkParts } from '../../db/check-parts.ts';
import { listPending, runMigrations } from '../../db/migrate.ts';
import { reportsSchema } from '../../db/sibling-schema.ts';
import { SchemaMismatch } from '../../errors.ts';
import { makeLogger } from '../../log.ts';
import { adoptMode } from '../../personal-data/adopt-mode.ts';
import { checkQueueSchema, migrateQueue, queueSchema } from '../../queue/queue-tables.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { MigrateDocument } from '../documents/migrate.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { print, printJson } from '../output/print.ts';

interface MigrateFlags {
  readonly dryRun?: true;
  readonly json?: true;
}

const HELP = `
Safe to run again and by several processes at once: what is applied already is left alone.

Examples:
  $ affiliate-mirror migrate --dry-run
  $ affiliate-mirror migrate`;

export function registerMigrate(root: Command, cli: Cli): void {
  root
    .command('migrate')
    .description('make the tables of the mirror, or bring them up to date')
    .option('--dry-run', 'say which migrations would be applied; change nothing')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', HELP)
    .action((flags: MigrateFlags) => cli.run((lifetime) => migrate(cli, lifetime, flags)));
}

async function migrate(cli: Cli, lifetime: Lifetime, flags: MigrateFlags): Promise<ExitCode> {
  const config = readCliConfig(cli);
  const log = makeLogger(config.logLevel);
  const { pool, db, url, name } = await openDatabase({ log, lifetime }, config, 'migrate');
  const { mirrorSchema: schema, redisUrl } = config;
  const isDryRun = flags.dryRun === true;
  if (!isDryRun) await refuseReadOnly(pool);
  const queue = { redisUrl, mirrorSchema: schema, databaseUrl: url };
  const isQueueReady = await checkQueueSchema(pool, queue).then(() => true, notReady);
  const { applied, advanced, hasRemadeReports } = isDryRun
    ? await listPending(pool, { schema })
    : await runMigrations(pool, { schema, signal: lifetime.signal });
  if (!isDryRun) {
    await migrateQueue(pool, queue);
    // What is missing although its migration was applied is found here alone.
    await checkParts(pool, schema);
    await adoptMode(db, config.personalData);
  }
  const result: MigrateDocument = {
    schema,
    database: name,
    dry_run: isDryRun,
    migrations: [...applied],
    advanced_identities: [...advanced],
    remade_reports: hasRemadeReports ? reportsSchema(schema) : null,
    queue_schema: redisUrl === null ? queueSchema(schema) : null,
    queue_is_up_to_date: redisUrl === null ? isQueueReady : null,
  };
  if (flags.json === true) printJson(result);
  else for (const line of describe(result)) print(line);
  return 0;
}

function notReady(error: unknown): false {
  if (error instanceof SchemaMismatch) return false;
  throw error;
}

function describe(result: MigrateDocument): string[] {
  const { schema, database, dry_run, migrations, advanced_identities } = result;
  const { remade_reports, queue_schema, queue_is_up_to_date } = result;
  const due = [migrations, advanced_identities, remade_reports ?? []];
  const isReady = due.every((names) => names.length === 0) && queue_is_up_to_date !== false;
  const lines = migrations.map((migration) => `${dry_run ? 'would apply' : 'applied'} ${migration}`);
  if (advanced_identities.length > 0) {
    const names = advanced_identities.join(', ');
    lines.push(
      `${dry_run ? 'would set' : 'set'} the next number of ${names}, which other rows had, as after a move by logical replication`,
    );
  }
  if (remade_reports !== null) {
    const made = dry_run ? 'would make' : 'made';
    lines.push(
      `${made} the views of schema ${remade_reports} again, which was lost: roles that read them need "affiliate-mirror grants" again`,
    );
  }
  if (!dry_run || isReady) return [...lines, `schema ${schema} in ${database} is up to date`];
  const queue =
    queue_is_up_to_date === false
      ? [`would bring schema ${queue_schema} up to date, which keeps the queue`]
      : [];
  return [...lines, ...queue, `schema ${schema} in ${database}: nothing was changed`];
}
