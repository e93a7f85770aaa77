// Reads the configuration for a command, and warns of misspelt variables: without a warning, a misspelt
// RETENTION_HISTORY_DAYS would keep everything. Names of one word, such as PII, are not checked: they may belong to any
// program. `doctor` reads the configuration elsewhere: it names them among its checks.

import { ConfigError } from '../base/errors.ts';
import { type Config, type ReachableConfig, readConfig, readProgramConfig } from '../config/config.ts';
import { VARIABLES } from '../config/variables.ts';
import { setDisplayZone } from '../contract/time-zone.ts';
import { countMistakes, findNearMiss } from '../payments/files/near-miss.ts';
import { readChosen, readOnlyChosen } from './choose-programs.ts';
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
 * Returns the checked configuration of the one program that the command works on, after setting its zone for the times
 * that people read. Warns of misspelt variables on stderr.
 *
 * Throws: ConfigError naming every malformed and misspelt variable at once; what `readOnlyChosen` throws.
 */
export function readCliConfig(cli: Cli, use?: Use): Config {
  return readOne(cli, use, readConfig);
}

/**
 * Returns the same with the API's address and secret.
 *
 * Throws: ConfigError naming every missing, malformed and misspelt variable at once.
 */
export function readCliProgramConfig(cli: Cli, use?: Use): ReachableConfig {
  return readOne(cli, use, readProgramConfig);
}

/**
 * Returns the configuration of each program that a command of many works on, in the file's order; of one without a name
 * if the environment describes it.
 *
 * Throws: as readCliConfig; what `readChosen` throws.
 */
export function readCliConfigs(cli: Cli, use?: Use): Configs<Config> {
  return readMany(cli, use, readConfig);
}

/** Returns the same with the API's address and secret. Throws: as readCliProgramConfig; what `readChosen` throws. */
export function readCliProgramConfigs(cli: Cli, use?: Use): Configs<ReachableConfig> {
  return readMany(cli, use, readProgramConfig);
}

/** At least one. */
export type Configs<T extends Config> = readonly [T, ...T[]];

/** Returns MIRROR_SCHEMA of the environment, by which the queue of all listed programs is named. */
export function readBaseSchema({ environment }: Pick<Cli, 'environment'>): string {
  return readConfig(environment).program.mirrorSchema;
}

type Read<T> = (environment: Cli['environment'], use: { servesPage: boolean }) => T;

function readOne<T extends Config>(cli: Cli, use: Use | undefined, readFrom: Read<T>): T | ReachableConfig {
  return read(cli, use, (environment, asked) => [
    readOnlyChosen(cli.choice, environment, asked)?.config ?? readFrom(environment, asked),
  ])[0];
}

function readMany<T extends Config>(
  cli: Cli,
  use: Use | undefined,
  readFrom: Read<T>,
): Configs<T | ReachableConfig> {
  return read<T | ReachableConfig>(cli, use, (environment, asked) => {
    const [first, ...others] = readChosen(cli.choice, environment, asked) ?? [];
    if (first === undefined) return [readFrom(environment, asked)];
    return [first.config, ...others.map(({ config }) => config)];
  });
}

function read<T extends Config>(
  cli: Cli,
  { servesPage = false }: Use = {},
  readFrom: Read<Configs<T>>,
): Configs<T> {
  const unknown = warned.has(cli) ? [] : describeUnknownVariables(cli.environment);
  warned.add(cli);
  try {
    const configs = readFrom(cli.environment, { servesPage });
    setDisplayZone(zoneOf(configs));
    for (const sentence of unknown) printError(sentence);
    return configs;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A missing variable may be there under a misspelt name.
    throw new ConfigError([...error.problems, ...unknown]);
  }
}

/** Returns the zone of all of them; UTC if they differ. */
export function zoneOf([first, ...others]: Configs<Config>): string {
  const { displayZone } = first.process;
  return others.every(({ process }) => process.displayZone === displayZone) ? displayZone : 'UTC';
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
