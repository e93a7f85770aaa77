// An error on stderr: the problem and its fix, without a stack. Only an unforeseen error shows its stack, as it is a
// bug.

import { CommanderError } from 'commander';
import { describeError } from '../base/describe-error.ts';
import { AppError, ConfigError } from '../base/errors.ts';
import { asDatabaseError, asKnownError, isStatementError } from '../db/database-errors.ts';
import type { ExitCode } from './exit-code.ts';
import { Stopped } from './lifetime.ts';
import { printError } from './output/print.ts';

/** Returns the exit code of the error, after it was written to stderr. `program`: the listed program that it is of. */
export function reportError(thrown: unknown, program: string | null = null): ExitCode {
  const start = program === null ? 'affiliate-mirror:' : `affiliate-mirror: ${program}:`;
  const error = asDatabaseError(thrown);
  // commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Stopped) {
    printError(`${start} ${error.message}`);
    return error.exitCode;
  }
  if (error instanceof ConfigError) {
    printError(describeProblems(start, error.problems));
    return 2;
  }
  if (error instanceof AppError) {
    printError(`${start} ${describeError(error)}`);
    return error.exitCode;
  }
  if (isStatementError(error)) {
    printError(`${start} ${describeError(asKnownError(error))}`);
    return 1;
  }
  const details = error instanceof Error ? (error.stack ?? describeError(error)) : describeError(error);
  printError(`${start} a bug, please report it: ${details}`);
  return 1;
}

function describeProblems(start: string, problems: readonly string[]): string {
  if (problems.length === 1) return `${start} ${problems[0]}`;
  return [`${start} several things are wrong:`, ...problems.map((problem) => `  ${problem}`)].join('\n');
}
