// Reads the configuration for a command, and warns of misspelt variables: without a warning, a misspelt
// RETENTION_HISTORY_DAYS would keep everything. Names of one word, such as PII, are not checked: they may belong to any
// program. `doctor` reads the configuration elsewhere: it names them among its checks.

import { ConfigError } from '../base/errors.ts';
import { type Config, type ReachableConfig, readConfig, readProgramConfig } from '../config/config.ts';
import { VARIABLES } from '../config/variables.ts';
import { setDisplayZone } from '../contract/time-zone.ts';
import { countMistakes, findNearMiss } from '../payments/files/near-miss.ts';
import type { Cli } from './cli.ts';
import { printError } from './output/print.ts';

interface Use {
  /** See src/config/config.ts. */
  readonly servesPage?: boolean;
}

/** Some commands read their configuration twice, and warn once. */
const warned = new WeakSet<Cli>();

/** Returns the command line with times in the zone; as they are configured if it is left out. */
export function inTimeZone(cli: Cli, timeZone: string | undefined): Cli {
  if (timeZone === undefined) return cli;
  return { ...cli, environment: { ...cli.environment, DISPLAY_TIMEZONE: timeZone } };
}

/**
 * Returns the checked configuration, after setting its zone for the times that people read. Warns of misspelt variables
 * on stderr.
 *
 * Throws: ConfigError naming every malformed and misspelt variable at once.
 */
export function readCliConfig(cli: Cli, use?: Use): Config {
  return read(cli, use, readConfig);
}

/**
 * Returns the same with the API's address and secret.
 *
 * Throws: ConfigError naming every missing, malformed and misspelt variable at once.
 */
export function readCliProgramConfig(cli: Cli, use?: Use): ReachableConfig {
  return read(cli, use, readProgramConfig);
}

function read<T extends Config>(
  cli: Cli,
  { servesPage = false }: Use = {},
  readFrom: (environment: Cli['environment'], use: { servesPage: boolean }) => T,
): T {
  const unknown = warned.has(cli) ? [] : describeUnknownVariables(cli.environment);
  warned.add(cli);
  try {
    const config = readFrom(cli.environment, { servesPage });
    setDisplayZone(config.process.displayZone);
    for (const sentence of unknown) printError(sentence);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A missing variable may be there under a misspelt name.
    throw new ConfigError([...error.problems, ...unknown]);
  }
}

const NAMES = VARIABLES.map(({ name }) => name);

/** These prefixes are ours. Any other name is reported if it differs from one of ours by a letter or two. */
const OURS = /^(AFFILIATE|ALERT|EXPORT|PII|RETENTION|STATUS|SYNC)_/;

/** Kubernetes sets these in every container, for each Service, such as AFFILIATE_MIRROR_SERVICE_HOST. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)|_PORT(?:_\d+_|$)/;

/** Returns a sentence for each variable that seems to be a misspelt one of ours. */
export function describeUnknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.keys(environment)
    .filter((name) => name.includes('_') && !NAMES.includes(name) && !SERVICE_LINK.test(name))
    .filter((name) => OURS.test(name) || findNearMiss(name, NAMES) !== null)
    .toSorted()
    .map((name) => `${name} is not a variable of affiliate-mirror: the nearest is ${findNearest(name)}`);
}

function findNearest(name: string): string | undefined {
  return NAMES.toSorted((a, b) => countMistakes(name, a) - countMistakes(name, b))[0];
}
