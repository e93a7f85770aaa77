// What becomes of a command whose output cannot be written: it goes on, since its work does not depend on who reads
// about it, and its exit code says how that ended.

import { printError } from './print.ts';

let isLost = false;

/**
 * Has the process survive that. `affiliate-mirror status | head -1` closes the pipe while we still write, and nothing
 * is said of that; a full disk under `sync --json > runs.json` is said once. Idempotent: yes.
 */
export function surviveLostOutput(): void {
  listen(process.stdout, noteLostOutput);
  // Nowhere is left to say so.
  listen(process.stderr, ignore);
}

/** Returns whether output was lost that somebody wants. */
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
