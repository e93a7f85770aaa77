// The form of help: as wide as the terminal.

import type { OutputConfiguration } from 'commander';
import { columnsOfStdout, writeErrorText, writeText } from '../base/terminal.ts';
import { printError, wrapSentences } from './output/print.ts';

/** In a pipe or a file. */
const USUAL_WIDTH = 80;

/** Commander's own errors begin with "error: ". */
export const HELP_OUTPUT: OutputConfiguration = {
  getOutHelpWidth: helpWidth,
  getErrHelpWidth: helpWidth,
  writeOut: (text) => writeText(wrapHelp(text)),
  writeErr: (text) => writeErrorText(wrapHelp(text)),
  outputError: (text) => printError(text.trimEnd().replace(/^error: /, 'affiliate-mirror: ')),
};

/** Returns the help with its paragraphs wrapped again: the texts of ours have lines of any length. */
function wrapHelp(text: string): string {
  return wrapSentences(text.replace(/^(\S.*)\n(?=\S)/gm, '$1 '), helpWidth());
}

function helpWidth(): number {
  const columns = columnsOfStdout();
  return Number.isFinite(columns) ? columns : USUAL_WIDTH;
}
