// The command line: its commands, the help of the whole, and the reporting of errors.

import { Command } from 'commander';
import type { z } from 'zod';
import { describeVersion } from '../base/package.ts';
import { useTerminal } from '../base/terminal.ts';
import { addProgramOption, fillChoice, makeChoice, type ProgramChoice } from './choose-programs.ts';
import type { Cli, CommandFile } from './cli.ts';
import { EXIT_CODES, type ExitCode } from './exit-code.ts';
import { HELP_OUTPUT } from './help.ts';
import { type Lifetime, withLifetime } from './lifetime.ts';
import { isOutputLost, print, surviveLostOutput } from './output/print.ts';

// By the first word. All of them take longer to load than a short command takes to run, so only the named one is
// loaded; --help loads all.
const COMMANDS: ReadonlyMap<string, () => Promise<{ readonly command: CommandFile }>> = new Map([
  ['demo', () => import('./commands/demo.ts')],
  ['migrate', () => import('./commands/migrate.ts')],
  ['sync', () => import('./commands/sync.ts')],
  ['work', () => import('./commands/work.ts')],
  ['deletions', () => import('./commands/deletions.ts')],
  ['commissions', () => import('./commands/commissions.ts')],
  ['payouts', () => import('./commands/payouts.ts')],
  ['alerts', () => import('./commands/alerts.ts')],
  ['export', () => import('./commands/export.ts')],
  ['status', () => import('./commands/status.ts')],
  ['personal-data', () => import('./commands/personal-data.ts')],
  ['forget', () => import('./commands/forget.ts')],
  ['doctor', () => import('./commands/doctor.ts')],
  ['grants', () => import('./commands/grants.ts')],
  ['union', () => import('./commands/union.ts')],
  ['sandbox', () => import('./commands/sandbox.ts')],
]);

const HELP = `
Start here:
  $ affiliate-mirror demo             see it work: a made-up affiliate program, mirrored on this machine
  $ affiliate-mirror doctor           check the configuration, the database and the API
  $ affiliate-mirror sync --migrate   make the tables, and mirror your affiliate program into them
  $ affiliate-mirror work             keep it up to date, on schedule, until Ctrl-C
  $ affiliate-mirror status           how fresh the mirror is

Configuration is read from environment variables; these two are needed to reach the API:
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
  const cli = {
    environment,
    run: async (work: (lifetime: Lifetime) => Promise<ExitCode>) => {
      exitCode = await withLifetime(work, environment);
    },
  };
  const choice = makeChoice();
  const program = await loadProgram(cli, args[0], choice);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // The error classes take as long to load as Node to start.
    const { reportError } = await import('./report-error.ts');
    return reportError(error, choice.current);
  }
}

/** An unset variable of a shell leaves an empty word, which no message could name. */
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

/** Returns the command line, with the command that the word names; with all of them if it names none. */
export async function loadProgram(
  cli: Omit<Cli, 'opener' | 'choice'>,
  word?: string,
  choice: ProgramChoice = makeChoice(),
): Promise<Command> {
  const program = new Command('affiliate-mirror')
    .description('Keeps a faithful, queryable copy of an affiliate program in your own Postgres.')
    .usage('COMMAND [options]')
    .option('--version', 'print the versions of affiliate-mirror, of Node and of the schema')
    .exitOverride()
    .configureOutput(HELP_OUTPUT)
    .showHelpAfterError('(add --help to see its options)')
    .hook('preAction', (_, command) => {
      refuseEmptyWords(command);
      return fillChoice(choice, cli.environment, command);
    })
    .addHelpText('after', HELP);
  const isNamed = word !== undefined && COMMANDS.has(word);
  for (const [name, load] of COMMANDS) {
    if (isNamed && name !== word) continue;
    const { register, connections = { pool: 0 }, programs = 'one' } = (await load()).command;
    register(program, { ...cli, choice, opener: { name, connections } });
    for (const command of program.commands) {
      if (command.name() === name && programs !== null) addProgramOption(command, programs);
    }
  }
  return program;
}

/** Returns the shapes of every JSON document that a command prints, by the name of its published schema. */
export async function loadDocuments(): Promise<Readonly<Record<string, z.ZodType>>> {
  const files = await Promise.all([...COMMANDS.values()].map((load) => load()));
  return Object.assign({}, ...files.map(({ command }) => command.documents));
}
