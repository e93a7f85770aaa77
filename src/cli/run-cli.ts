// The command line as a whole: which commands there are, what --help says, and what becomes of their errors.

import { Command } from 'commander';
import { describeVersion } from '../package.ts';
import { useTerminal } from '../terminal.ts';
import type { Cli } from './cli.ts';
import { EXIT_CODES, type ExitCode } from './exit-code.ts';
import { HELP_OUTPUT, hintAtOwnHelp } from './help.ts';
import { withLifetime } from './lifetime.ts';
import { isOutputLost, surviveLostOutput } from './output/failure.ts';
import { print } from './output/print.ts';

type Register = (program: Command, cli: Cli) => void;

// By the word that names it. Loading them all takes longer than a short command's work, so that one alone is loaded
// where the first word names it; --help and everything else see them all, and a completion has to know them all.
const COMMANDS: ReadonlyMap<string, () => Promise<Register>> = new Map([
  ['demo', async () => (await import('./commands/demo.ts')).registerDemo],
  ['migrate', async () => (await import('./commands/migrate.ts')).registerMigrate],
  ['sync', async () => (await import('./commands/sync.ts')).registerSync],
  ['work', async () => (await import('./commands/work.ts')).registerWork],
  ['deletions', async () => (await import('./commands/deletions.ts')).registerDeletions],
  ['commissions', async () => (await import('./commands/commissions.ts')).registerCommissions],
  ['alerts', async () => (await import('./commands/alerts.ts')).registerAlerts],
  ['export', async () => (await import('./commands/export.ts')).registerExport],
  ['status', async () => (await import('./commands/status.ts')).registerStatus],
  ['personal-data', async () => (await import('./commands/personal-data.ts')).registerPersonalData],
  ['forget', async () => (await import('./commands/forget.ts')).registerForget],
  ['doctor', async () => (await import('./commands/doctor.ts')).registerDoctor],
  ['grants', async () => (await import('./commands/grants.ts')).registerGrants],
  ['sandbox', async () => (await import('./commands/sandbox.ts')).registerSandbox],
  ['completion', async () => (await import('./commands/completion.ts')).registerCompletion],
]);

const HELP = `
Start here:
  $ affiliate-mirror demo             see it work: a made-up program, mirrored on this machine
  $ affiliate-mirror doctor           check the configuration, the database and the program
  $ affiliate-mirror sync --migrate   make the tables, and mirror your program into them
  $ affiliate-mirror work             keep it up to date, on schedule, until Ctrl-C
  $ affiliate-mirror status           how fresh the mirror is

Configuration is read from environment variables; these two are needed to reach your program:
  AFFILIATE_API_URL, AFFILIATE_API_SECRET
The others have defaults: see docs/configuration.md.
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
  useTerminal(environment);
  surviveLostOutput();
  const exitCode = await runCommand(args, environment);
  return exitCode === 0 && isOutputLost() ? 1 : exitCode;
}

async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  if (args[0] === '--version') {
    print(describeVersion());
    return 0;
  }
  let exitCode: ExitCode = 0;
  const cli: Cli = {
    environment,
    run: async (work) => {
      exitCode = await withLifetime(work, environment);
    },
  };
  const program = await loadProgram(cli, args[0]);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // The names of errors take as long to load as Node itself to start.
    const { reportError } = await import('./report-error.ts');
    return reportError(error, args[0]);
  }
}

/** What an unset variable of a shell leaves: no message should name a file or a person with nothing in that place. */
function refuseEmptyWords(command: Command): void {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const given: unknown[] = [command.processedArgs[index]].flat();
    if (given.includes('')) command.error(`error: argument '${argument.name()}' is empty`);
  }
  for (const option of command.options) {
    const given: unknown[] = [command.getOptionValue(option.attributeName())].flat();
    if (given.includes('')) command.error(`error: option '${option.flags}' is empty`);
  }
}

/** Returns the command line, with the command that the word names; with all of them where it names none. */
export async function loadProgram(cli: Cli, word?: string): Promise<Command> {
  const program = new Command('affiliate-mirror')
    .description('Keeps a faithful, queryable copy of an affiliate program in your own Postgres.')
    .usage('COMMAND [options]')
    .option('--version', 'print the versions of affiliate-mirror, of Node and of the schema')
    .exitOverride()
    .configureOutput(HELP_OUTPUT)
    .hook('preAction', (_, command) => refuseEmptyWords(command))
    .addHelpText('after', HELP);
  const named = word === undefined || word === 'completion' ? undefined : COMMANDS.get(word);
  for (const load of named === undefined ? COMMANDS.values() : [named]) (await load())(program, cli);
  hintAtOwnHelp(program);
  return program;
}
