// The two streams of the command line: data on stdout, everything else on stderr.

import { Help } from 'commander';
import { makeExactNumber } from '../../contract/exact-number.ts';
import { asPlainText } from '../../plain-text.ts';
import { columnsOfStderr, columnsOfStdout, writeData, writeErrorText, writeText } from '../../terminal.ts';

const commanders = new Help();

/**
 * Returns the text with its sentences broken between words, by commander. Lines with an indent stay: they are often
 * commands, and a command that is copied must be one line. So do the lines of a table.
 */
export function wrapSentences(text: string, columns: number): string {
  return text.replace(/^[^\s┌├│└].*$/gm, (line) => commanders.boxWrap(line, columns));
}

/** Writes a line for a person to stdout, broken between words where the terminal is narrower. */
export function print(line = ''): void {
  writeText(`${wrapSentences(asPlainText(line), columnsOfStdout())}\n`);
}

/** Writes lines for another program to stdout, such as CSV or SQL. */
export function printData(lines: string): void {
  writeData(`${lines}\n`);
}

/** Writes a line for the person at the terminal to stderr, broken in the same way. */
export function printError(line: string): void {
  writeErrorText(`${wrapSentences(asPlainText(line), columnsOfStderr())}\n`);
}

/** Writes one JSON document to stdout; a bigint in it is a number with all of its digits. */
export function printJson(document: unknown): void {
  const spell = (_: string, value: unknown) =>
    typeof value === 'bigint' ? makeExactNumber(String(value)) : value;
  printData(JSON.stringify(document, spell, 2));
}
