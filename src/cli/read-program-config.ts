// The configuration of a command that talks to the program. Knows only that some variables are then needed.

import { type Config, readConfig, requireProgram } from '../config.ts';
import { ConfigError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

// Stand in for a variable while the other one is looked at.
const ANY_URL = { AFFILIATE_API_URL: 'https://program.invalid' };
const ANY_SECRET = { AFFILIATE_API_SECRET: 'any' };

/**
 * Gives back the configuration with the program's address and secret.
 *
 * Throws: ConfigError naming every variable that is malformed or missing, at once: a malformed one alone would hide
 * a missing one.
 */
export function readProgramConfig(environment: Environment): {
  config: Config;
  program: { url: string; secret: string };
} {
  const { AFFILIATE_API_URL, AFFILIATE_API_SECRET, AFFILIATE_API_SECRET_FILE } = environment;
  const problems = new Set([
    ...problemsOf(() => requireProgram(readConfig({ AFFILIATE_API_URL, ...ANY_SECRET }))),
    ...problemsOf(() =>
      requireProgram(readConfig({ ...ANY_URL, AFFILIATE_API_SECRET, AFFILIATE_API_SECRET_FILE })),
    ),
    ...problemsOf(() => readConfig(environment)),
  ]);
  if (problems.size > 0) throw new ConfigError([...problems]);
  const config = readConfig(environment);
  return { config, program: requireProgram(config) };
}

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
