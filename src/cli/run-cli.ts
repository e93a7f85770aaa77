// The command line as a whole: which commands there are, what --help says, and what becomes of their errors.

import { Command } from 'commander';
import type { Cli } from './cli.ts';
import { EXIT_CODES, type ExitCode } from './exit-code.ts';
import { withLifetime } from './lifetime.ts';
import { reportError } from './report-error.ts';

type Register = (program: Command, cli: Cli) => void;

// By the word that names it. Loading them all takes longer than a short command's work, so that one alone is loaded
// where the first word names it; --help and everything else see them all.
const COMMANDS: ReadonlyMap<string, () => Promise<Register>> = new Map([
  ['demo', async () => (await import('./commands/demo.ts')).registerDemo],
  ['migrate', async () => (await import('./commands/migrate.ts')).registerMigrate],
  ['sync', async () => (await import('./commands/sync.ts')).registerSync],
  ['work', async () => (await import('./commands/work.ts')).registerWork],
  ['commissions', async () => (await import('./commands/commissions.ts')).registerCommissions],
  ['status', async () => (await import('./commands/status.ts')).registerStatus],
  ['doctor', async () => (await import('./commands/doctor.ts')).registerDoctor],
  ['sandbox', async () => (await import('./commands/sandbox.ts')).registerSandbox],
]);

const HELP = `
Start here:
  $ npm run demo                             see it work: a made-up program, mirrored on this machine
  $ affiliate-mirror doctor                  check the configuration, the database and the program
  $ affiliate-mirror sync --migrate          make the tables, and mirror your program into them
  $ affiliate-mirror work                    keep it up to date, on schedule, until Ctrl-C
  $ affiliate-mirror status                  how fresh the mirror is

Configuration stands in environment variables; these two are needed to reach your program:
  AFFILIATE_API_URL, AFFILIATE_API_SECRET    the others have defaults: see docs/configuration.md
Without DATABASE_URL, a Postgres of its own is started under DATA_DIR (.affiliate-mirror).

Data goes to stdout; logs, progress and errors go to stderr.

Exit codes:
${EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`).join('\n')}

"affiliate-mirror help COMMAND" shows a command's options and examples.`;

/** Returns the exit code, after running the command that the arguments name. Reports errors itself. */
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
  const named = COMMANDS.get(args[0] ?? '');
  for (const load of named === undefined ? COMMANDS.values() : [named]) (await load())(program, cli);
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
