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
export function readCliConfig(cli: Cli, use?: Use): Config {
  return read(cli, use, (...input) => ({ config: readConfig(...input) })).config;
}

/**
 * Returns the same with the program's address and secret, for the commands that need them.
 *
 * Throws: ConfigError naming every missing, malformed and misspelt variable at once.
 */
export function readCliProgramConfig(cli: Cli, use?: Use): ReturnType<typeof readProgramConfig> {
  return read(cli, use, readProgramConfig);
}

function read<T extends { readonly config: Config }>(
  cli: Cli,
  { servesPage = false, isLogging = false }: Use = {},
  readFrom: (environment: Cli['environment'], use: { servesPage: boolean }) => T,
): T {
  const unknown = warned.has(cli) ? [] : describeUnknownVariables(cli.environment);
  warned.add(cli);
  try {
    const found = readFrom(cli.environment, { servesPage });
    if (!isLogging) for (const sentence of unknown) printError(sentence);
    else if (unknown.length > 0) {
      const log = makeLogger(found.config.logLevel);
      log.warn({ reason: unknown.join('; ') }, 'config.unknown_variables');
    }
    return found;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // What is missing may be there under a misspelt name.
    throw new ConfigError([...error.problems, ...unknown]);
  }
}
