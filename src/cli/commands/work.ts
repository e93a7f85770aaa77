// The command `work`: schedules, queue and health in one process, until it is stopped.

import type { Command } from 'commander';
import { makeLogger } from '../../base/log.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readCliConfig, readCliProgramConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import { type Lifetime, untilStopped } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { openProgram } from '../program.ts';
import { openTracing } from '../tracing.ts';

const HELP = `
Syncs on schedule, applies payment requests, exports, sends alerts and prunes old rows, as the configuration says. Any
number of workers may run at once. Serves the status page at STATUS_HOST:STATUS_PORT.
Needs the tables: run "affiliate-mirror migrate" first.
Ctrl-C, SIGTERM or SIGHUP: the work under way commits, its jobs go back to the queue, and the worker ends; a second
signal ends it at once.

The queue is kept in the same Postgres, which is enough for workers on one machine; set REDIS_URL for a fleet.
All of it: docs/operations.md`;

export const command: CommandFile = {
  register,
  connections: { pool: 8, queue: 4, isWriting: true },
  programs: null,
};

function register(root: Command, cli: Cli): void {
  root
    .command('work')
    .description('keep the mirror up to date, on schedule, until it is stopped')
    .addHelpText('after', HELP)
    .action(() => cli.run((lifetime) => work(cli, lifetime)));
}

async function work(cli: Cli, lifetime: Lifetime): Promise<ExitCode> {
  const isListed = (cli.environment['PROGRAMS_FILE'] ?? '').trim() !== '';
  const { over, log } = await (isListed ? workForListed : workForOne)(cli, lifetime);
  await untilStopped(over);
  if (!lifetime.signal.aborted) over.throwIfAborted();
  log.info('worker.stopping');
  return 0;
}

async function workForOne(cli: Cli, lifetime: Lifetime) {
  const config = readCliProgramConfig(cli, { servesPage: true });
  const log = makeLogger(config.process.logLevel);
  await openTracing({ log, lifetime }, config.process);
  const program = await openProgram(cli, lifetime, { config, log });
  // `--help` and `doctor` load this file, and need neither status page nor queue.
  const { startWork } = await import('../worker/start-work.ts');
  return { log, ...(await startWork(program, config.program.address)) };
}

async function workForListed(cli: Cli, lifetime: Lifetime) {
  const { process, program } = readCliConfig(cli, { servesPage: true });
  const log = makeLogger(process.logLevel);
  await openTracing({ log, lifetime }, process);
  const { readPrograms } = await import('../../config/programs-file.ts');
  const readFile = () => readPrograms(cli.environment, { servesPage: true }) ?? [];
  const first = readFile();
  const database = await openDatabase({ log, lifetime }, process, cli.opener, { isForMany: true });
  const { makeProgramKeeper } = await import('../worker/keep-programs.ts');
  const { startListedWork } = await import('../worker/start-work.ts');
  const keeper = makeProgramKeeper({ database, log, lifetime, readFile }, first);
  const { mirrorSchema } = program;
  return { log, ...(await startListedWork({ process, database, log, lifetime, mirrorSchema }, keeper)) };
}
