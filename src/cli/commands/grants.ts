// The command `grants`: prints the SQL that gives a role what it needs, and no more.

import { Argument, type Command } from 'commander';
import { describeGrants } from '../../db/access/grants.ts';
import { GRANTEES, type Grantee } from '../../db/relations.ts';
import { findQueueSchema } from '../../worker/queue/queue-tables.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readBaseSchema, readCliConfigs } from '../configuration.ts';
import { printData } from '../output/print.ts';

const HELP = `
  worker       what work, sync, status, doctor and commissions need; not migrate, which is for the owner of the tables
  analyst      to read the reports (<MIRROR_SCHEMA>_reports), with personal data masked
  analyst_pii  to read the reports with personal data, and the tables and views that are for analysis
  payroll      to ask for commission updates, and to read what became of them

Connects to nothing: read its output, and have the owner of the tables run it, after "affiliate-mirror migrate".
The schemas are those of MIRROR_SCHEMA, or of each program of PROGRAMS_FILE; with REDIS_URL set, the queue needs none.
That SQL fails, and grants nothing, if the role has more rights by another way (PUBLIC, a group, default privileges).

Example:
  $ affiliate-mirror grants worker --role mirror_worker > grants.sql
  $ psql "$OWNER_DATABASE_URL" -v ON_ERROR_STOP=1 -f grants.sql`;

export const command: CommandFile = {
  register,
  programs: 'many',
};

function register(root: Command, cli: Cli): void {
  root
    .command('grants')
    .description('print the SQL that gives a role what it needs in the database')
    .addArgument(new Argument('<kind>', 'of role').choices(GRANTEES))
    .option('--role <name>', 'the role of the database; as the kind is named if left out')
    .addHelpText('after', HELP)
    .action((kind: Grantee, { role = kind }: { role?: string }) =>
      cli.run(async () => {
        const configs = readCliConfigs(cli);
        const { redisUrl } = configs[0].process;
        for (const { program } of configs) {
          const { name, mirrorSchema: schema } = program;
          // All listed programs have one queue.
          const queueSchema = findQueueSchema(redisUrl, name === null ? schema : readBaseSchema(cli));
          if (name !== null) printData(`-- Program ${name}`);
          printData(describeGrants(kind, { role, schema, queueSchema }));
        }
        return 0;
      }),
    );
}
