// Where the commands read their configuration: in one place, so that none of them forgets to warn of misspelt
// variables. doctor alone reads it elsewhere: it names them among its checks.

import { type Config, readConfig, readProgramConfig } from '../config/config.ts';
import { ConfigError } from '../errors.ts';
import { makeLogger } from '../log.ts';
import type { Cli } from './cli.ts';
import { printError } from './output/print.ts';
import { describeUnknownVariables } from './unknown-variables.ts';

interface Use {
  /** See src/config/config.ts. */
  readonly servesPage?: boolean;
  /** Whether the command's stderr is a log. */
  readonly isLogging?: boolean;
}

/** Some commands read their configuration twice, and warn once. */
const warned = new WeakSet<Cli>();

/**
 * Returns the checked configuration. Warns of misspelt variables: on stderr, or in the log.
 *
 * Throws: ConfigError naming every malformed and misspelt variable at once.
 */
export function readCliConfig(cli: Cli, { servesPage = false, isLogging = false }: Use = {}): Config {
  const config = withMisspelt(cli, () => readConfig(cli.environment, { servesPage }));
  warn(cli, config, isLogging);
  return config;
}

/**
 * Returns the same with the program's address and secret, for the commands that need them.
 *
 * Throws: ConfigError naming every missing, malformed and misspelt variable at once.
 */
export function readCliProgramConfig(
  cli: Cli,
  { servesPage = false, isLogging = false }: Use = {},
): ReturnType<typeof readProgramConfig> {
  const found = withMisspelt(cli, () => readProgramConfig(cli.environment, { servesPage }));
  warn(cli, found.config, isLogging);
  return found;
}

// What is missing may be there under a misspelt name.
function withMisspelt<T>(cli: Cli, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError([...error.problems, ...takeUnknown(cli)]);
  }
}

function warn(cli: Cli, { logLevel }: Config, isLogging: boolean): void {
  const unknown = takeUnknown(cli);
  if (!isLogging) {
    for (const sentence of unknown) printError(sentence);
  } else if (unknown.length > 0) {
    const log = makeLogger(logLevel);
    log.warn({ reason: unknown.join('; ') }, 'config.unknown_variables');
  }
}

function takeUnknown(cli: Cli): string[] {
  if (warned.has(cli)) return [];
  warned.add(cli);
  return describeUnknownVariables(cli.environment);
}
