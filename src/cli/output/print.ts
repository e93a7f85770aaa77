// The two streams of the command line: data on stdout, everything else on stderr.

import { Help } from 'commander';
import { asPlainText } from '../../base/plain-text.ts';
import {
  columnsOfStderr,
  columnsOfStdout,
  writeData,
  writeErrorText,
  writeText,
} from '../../base/terminal.ts';
import { makeExactNumber } from '../../contract/exact-number.ts';

const help = new Help();

/**
 * Returns the text with its sentences wrapped. Indented lines stay, as a command must be one line to be copied; so do
 * the lines of a table.
 */
export function wrapSentences(text: string, columns: number): string {
  return text.replace(/^[^\s┌├│└].*$/gm, (line) => help.boxWrap(line, columns));
}

/** Writes a line for people to stdout, wrapped to the terminal. */
export function print(line = ''): void {
  writeText(`${wrapSentences(asPlainText(line), columnsOfStdout())}\n`);
}

/** Writes lines for programs to stdout, such as CSV or SQL. */
export function printData(lines: string): void {
  writeData(`${lines}\n`);
}

/** Writes a line for people to stderr, wrapped in the same way. */
export function printError(line: string): void {
  writeErrorText(`${wrapSentences(asPlainText(line), columnsOfStderr())}\n`);
}

/** Writes one JSON document to stdout; a bigint becomes a number with all of its digits. */
export function printJson(document: unknown): void {
  const spell = (_: string, value: unknown) =>
    typeof value === 'bigint' ? makeExactNumber(String(value)) : value;
  printData(JSON.stringify(document, spell, 2));
}

// Output that cannot be written: the command goes on with its work, and its exit code reports the loss.
let isLost = false;

/**
 * Keeps the process alive then. A closed pipe, as in `affiliate-mirror status | head -1`, is no failure; a full disk
 * under `sync --json > runs.json` is reported once. Idempotent: yes.
 */
export function surviveLostOutput(): void {
  listen(process.stdout, noteLostOutput);
  // A loss of stderr cannot be reported.
  listen(process.stderr, ignore);
}

/** Returns whether output was lost, other than to a closed pipe. */
export function isOutputLost(): boolean {
  return isLost;
}

function noteLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || isLost) return;
  isLost = true;
  printError(`affiliate-mirror: the output cannot be written: ${error.message}`);
  // It may come after the command has ended.
  if (process.exitCode === 0) process.exitCode = 1;
}

function ignore(): void {}

function listen(stream: NodeJS.WriteStream, listener: (error: NodeJS.ErrnoException) => void): void {
  if (!stream.listeners('error').includes(listener)) stream.on('error', listener);
}
