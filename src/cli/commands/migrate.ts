// The command `migrate`: brings the mirror's schema up to date.

import type { Command } from 'commander';
import { readConfig } from '../../config/config.ts';
import { runMigrations } from '../../db/migrate.ts';
import { makeLogger } from '../../log.ts';
import { migrateQueue } from '../../queue/backend.ts';
import type { Cli } from '../cli.ts';
import { openDatabase } from '../open-database.ts';
import { print } from '../print.ts';

export function registerMigrate(root: Command, cli: Cli): void {
  root
    .command('migrate')
    .description('make the tables of the mirror, or bring them up to date')
    .addHelpText(
      'after',
      '\nSafe to run again and by several processes at once: what is applied already is left alone.',
    )
    .action(() =>
      cli.run(async (lifetime) => {
        const config = readConfig(cli.environment);
        const log = makeLogger(config.logLevel);
        const { pool, url, name } = await openDatabase({ log, lifetime }, config, 'migrate');
        const { mirrorSchema, redisUrl } = config;
        const { applied } = await runMigrations(pool, { schema: mirrorSchema });
        await migrateQueue(pool, { redisUrl, mirrorSchema, databaseUrl: url });
        for (const migration of applied) print(`applied ${migration}`);
        print(`schema ${mirrorSchema} in ${name} is up to date`);
        return 0;
      }),
    );
}
