// The command line as a whole: which commands there are, what --help says, and what becomes of their errors.

import { Command } from 'commander';
import type { Cli } from './cli.ts';
import { registerCommissions } from './commissions.ts';
import { registerDemo } from './demo.ts';
import { registerDoctor } from './doctor.ts';
import { EXIT_CODES, type ExitCode } from './exit-code.ts';
import { withLifetime } from './lifetime.ts';
import { registerMigrate } from './migrate.ts';
import { reportError } from './report-error.ts';
import { registerSandbox } from './sandbox.ts';
import { registerStatus } from './status.ts';
import { registerSync } from './sync.ts';
import { registerWork } from './work.ts';

const HELP = `
Start here:
  $ npm run demo                             see it work: a made-up program, mirrored on this machine
  $ affiliate-mirror doctor                  check the configuration, the database and the program
  $ affiliate-mirror sync --migrate          make the tables, and mirror your program into them
  $ affiliate-mirror work                    keep it up to date, on schedule, until Ctrl-C
  $ affiliate-mirror status                  how fresh the mirror is

Configuration stands in environment variables; these two are needed to reach your program:
  AFFILIATE_API_URL, AFFILIATE_API_SECRET    the others have defaults: see README.md, "Configuration"
Without DATABASE_URL, a Postgres of its own is started under DATA_DIR (.affiliate-mirror).

Data goes to stdout; logs, progress and errors go to stderr.

Exit codes:
${EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`).join('\n')}

"affiliate-mirror help COMMAND" shows a command's options and examples.`;

/** Gives back the exit code, after running the command that the arguments name. Reports errors itself. */
export async function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  endQuietlyWhenNobodyReads();
  let exitCode: ExitCode = 0;
  const cli: Cli = {
    environment,
    run: async (work) => {
      exitCode = await withLifetime(work);
    },
  };
  const program = new Command('affiliate-mirror')
    .description('Keeps a faithful, queryable copy of an affiliate program in your own Postgres.')
    .usage('COMMAND [options]')
    .exitOverride()
    .showHelpAfterError('("affiliate-mirror --help" lists the commands and their options)')
    .addHelpText('after', HELP);
  for (const register of [
    registerDemo,
    registerMigrate,
    registerSync,
    registerWork,
    registerCommissions,
    registerStatus,
    registerDoctor,
    registerSandbox,
  ]) {
    register(program, cli);
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportError(error);
  }
}

// `affiliate-mirror status | head -1` closes the pipe while we still write.
function endQuietlyWhenNobodyReads(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}
