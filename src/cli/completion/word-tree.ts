// What may be typed where: the words of the command line, read from commander's own commands, so that a completion
// knows every command and option that there is.

import type { Command } from 'commander';

export interface Word {
  readonly text: string;
  readonly description: string;
}

export interface OptionWord extends Word {
  /** The option's other spelling, of one letter, such as `-o`; null where it has none. */
  readonly short: string | null;
  /** Whether a value follows it, and which there are; empty where any will do. */
  readonly value: { readonly choices: readonly string[] } | null;
}

/** What may follow a command. */
export interface Place {
  /** The words that lead to the command, such as `commissions apply`; empty at the beginning. */
  readonly path: string;
  /** Commands, and the arguments of which there are only some. */
  readonly words: readonly Word[];
  readonly options: readonly OptionWord[];
  /** Whether anything else may follow, such as a file. */
  readonly takesAny: boolean;
}

/** Returns every place of the command line, the beginning first. */
export function readPlaces(root: Command): Place[] {
  return placesOf(root, '');
}

/**
 * Returns the words that lead from one place to the next, each with the path before it: `commissions apply`, ` sync`.
 */
export function stepsOf(places: readonly Place[]): string[] {
  return places.filter(({ path }) => path !== '').map(({ path }) => (path.includes(' ') ? path : ` ${path}`));
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const place: Place = {
    path,
    words: [
      ...commands.map((one) => ({ text: one.name(), description: one.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((text) => ({ text, description })),
      ),
    ],
    options: help
      .visibleOptions(command)
      .map(({ long, short, description, required, optional, argChoices }) => ({
        text: long ?? short ?? '',
        short: short ?? null,
        description,
        // A value that may be left out is no reason to offer nothing else.
        value: required && !optional ? { choices: argChoices ?? [] } : null,
      })),
    takesAny: command.registeredArguments.some(({ argChoices }) => argChoices === undefined),
  };
  // The word "help" leads nowhere of its own: behind it come the commands that come at the beginning.
  const deeper = commands.filter((one) => one.name() !== 'help');
  return [place, ...deeper.flatMap((one) => placesOf(one, `${path} ${one.name()}`.trim()))];
}
