// How help is asked for and looks: as wide as the terminal, with errors under the program's name, and hints that name
// the help of the very command that was misused.

import type { Command, OutputConfiguration } from 'commander';
import { columnsOfStdout, writeErrorText, writeText } from '../terminal.ts';
import { printError, wrapSentences } from './output/print.ts';

/** Where it is not known how wide the reader's lines are. */
const USUAL_WIDTH = 80;

/** For commander, whose own texts begin with "error: ". */
export const HELP_OUTPUT: OutputConfiguration = {
  getOutHelpWidth: helpWidth,
  getErrHelpWidth: helpWidth,
  writeOut: (text) => writeText(wrapHelp(text)),
  writeErr: (text) => writeErrorText(wrapHelp(text)),
  outputError: (text) => printError(text.trimEnd().replace(/^error: /, 'affiliate-mirror: ')),
};

/** Returns the help with its paragraphs broken anew: what is added to commander's own is in lines of any length. */
function wrapHelp(text: string): string {
  return wrapSentences(text.replace(/^(\S.*)\n(?=\S)/gm, '$1 '), helpWidth());
}

function helpWidth(): number {
  const columns = columnsOfStdout();
  return Number.isFinite(columns) ? columns : USUAL_WIDTH;
}

/** Has each command name its own help where it is misused. */
export function hintAtOwnHelp(command: Command, path = 'affiliate-mirror'): void {
  const shows = command.commands.length > 0 ? 'lists the commands and their options' : 'shows its options';
  command.showHelpAfterError(`("${path} --help" ${shows})`);
  for (const one of command.commands) hintAtOwnHelp(one, `${path} ${one.name()}`);
}
