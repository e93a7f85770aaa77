// Which programs of PROGRAMS_FILE a command works on: those of --program, or all. Without the file, the environment
// describes one program, which has no name.

import { type Command, Option } from 'commander';
import { ConfigError } from '../base/errors.ts';
import type { Environment } from '../config/config.ts';
import type { ListedProgram, readPrograms } from '../config/programs-file.ts';

/** `one`: the user names the program if several are listed; `many`: the command works on all unless some are named. */
export type ProgramsTaken = 'one' | 'many';

/** Filled before the command begins. */
export interface ProgramChoice {
  /** Those of --program, as they were given. */
  names: readonly string[];
  /** Null without PROGRAMS_FILE, and in a command that takes no --program. */
  readFile: typeof readPrograms | null;
  /** The listed program that the command works on, for its errors; null if it works on many. */
  current: string | null;
}

export function makeChoice(): ProgramChoice {
  return { names: [], readFile: null, current: null };
}

const OPTION = 'program';

const HELP: Readonly<Record<ProgramsTaken, string>> = {
  one: 'which program of PROGRAMS_FILE; needed if it lists several',
  many: 'only this program of PROGRAMS_FILE, instead of all; may be repeated',
};

/** Adds --program to the command, or to each command of the group. */
export function addProgramOption(command: Command, taken: ProgramsTaken): void {
  for (const one of command.commands) addProgramOption(one, taken);
  if (command.commands.length > 0) return;
  const add = (name: string, before: readonly string[] = []) => [...before, name];
  command.addOption(new Option(`--${OPTION} <name>`, HELP[taken]).argParser(add));
}

/** Throws: ConfigError if --program is given without PROGRAMS_FILE. */
export async function fillChoice(
  choice: ProgramChoice,
  environment: Environment,
  command: Command,
): Promise<void> {
  if (!command.options.some((option) => option.attributeName() === OPTION)) return;
  choice.names = command.getOptionValue(OPTION) ?? [];
  if (environment['PROGRAMS_FILE']?.trim()) {
    // The parser of the file takes a tenth of a second to load.
    choice.readFile = (await import('../config/programs-file.ts')).readPrograms;
  } else if (choice.names.length > 0) {
    throw new ConfigError([
      '--program names a program of PROGRAMS_FILE, which is not set: set it to the YAML file that lists your programs (docs/configuration.md), or leave --program out',
    ]);
  }
}

/**
 * Returns the programs to work on, in the file's order; null if the environment describes the program.
 *
 * Throws: ConfigError if --program names none of the file's, or the file has a problem.
 */
export function readChosen(
  { names, readFile }: ProgramChoice,
  environment: Environment,
  use: { readonly servesPage: boolean },
): readonly ListedProgram[] | null {
  const listed = readFile?.(environment, use) ?? null;
  if (listed === null || names.length === 0) return listed;
  const unknown = names.filter((name) => !listed.some((program) => program.name === name));
  if (unknown.length > 0) {
    throw new ConfigError(
      unknown.map((name) => `--program: PROGRAMS_FILE has no program "${name}", but ${listNames(listed)}`),
    );
  }
  return listed.filter(({ name }) => names.includes(name));
}

/** Returns the only program to work on, as `readChosen`. Throws: also ConfigError if there are several. */
export function readOnlyChosen(
  choice: ProgramChoice,
  environment: Environment,
  use: { readonly servesPage: boolean },
): ListedProgram | null {
  const chosen = readChosen(choice, environment, use);
  if (chosen === null) return null;
  const [program, ...others] = chosen;
  if (program === undefined || others.length > 0) {
    throw new ConfigError([
      choice.names.length === 0
        ? `PROGRAMS_FILE lists several programs: add --program with the name of one, which are ${listNames(chosen)}`
        : 'this command works on one program: give --program once',
    ]);
  }
  choice.current = program.name;
  return program;
}

function listNames(programs: readonly ListedProgram[]): string {
  return programs.map(({ name }) => name).join(', ');
}
