// The command `union`: prints the SQL of the views over the reports of all programs.

import type { Command } from 'commander';
import { ConfigError } from '../../base/errors.ts';
import { siblingSchema } from '../../config/program/sibling-schema.ts';
import { describeUnion } from '../../db/access/describe-union.ts';
import { readReportNames } from '../../db/migrate/migration-files.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readBaseSchema, readCliConfig } from '../configuration.ts';
import { printData } from '../output/print.ts';

const HELP = `
The views are in the schema <MIRROR_SCHEMA>_all, have the names of the reports, and begin with the column "program".
To read one, a role needs the reports of every program ("affiliate-mirror grants analyst"): it sees there what it sees
in each.

Connects to nothing: read its output, and have the owner of the tables run it, after "affiliate-mirror migrate"; again
after an update, and when PROGRAMS_FILE changes.

Example:
  $ affiliate-mirror union > union.sql
  $ psql "$OWNER_DATABASE_URL" -v ON_ERROR_STOP=1 -f union.sql`;

export const command: CommandFile = {
  register,
  programs: null,
};

function register(root: Command, cli: Cli): void {
  root
    .command('union')
    .description('print the SQL of views over the reports of all programs')
    .addHelpText('after', HELP)
    .action(() => cli.run(() => printUnion(cli)));
}

async function printUnion(cli: Cli): Promise<0> {
  // Warns of misspelt variables.
  readCliConfig(cli);
  // It loads the parser of the file, which no other command needs without the variable.
  const { readPrograms } = await import('../../config/programs-file.ts');
  const programs = readPrograms(cli.environment);
  if (programs === null) {
    throw new ConfigError([
      'PROGRAMS_FILE is not set: without it, there is one program, whose reports need no union',
    ]);
  }
  printData(
    describeUnion({
      schema: siblingSchema(readBaseSchema(cli), 'all'),
      reports: await readReportNames(),
      programs: programs.map(({ name, config: { program } }) => ({
        name,
        mirrorSchema: program.mirrorSchema,
      })),
    }),
  );
  return 0;
}
