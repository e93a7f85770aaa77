// An error on stderr: the problem and its fix, without a stack. Only an unforeseen error shows its stack, as it is a
// bug.

import { CommanderError } from 'commander';
import { describeError } from '../base/describe-error.ts';
import { AppError, ConfigError } from '../base/errors.ts';
import { asDatabaseError, asKnownError, isStatementError } from '../db/database-errors.ts';
import type { ExitCode } from './exit-code.ts';
import { Stopped } from './lifetime.ts';
import { printError } from './output/print.ts';

/** Returns the exit code of the error, after it was written to stderr. */
export function reportError(thrown: unknown): ExitCode {
  const error = asDatabaseError(thrown);
  // commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Stopped) {
    printError(`affiliate-mirror: ${error.message}`);
    return error.exitCode;
  }
  if (error instanceof ConfigError) {
    printError(describeProblems(error.problems));
    return 2;
  }
  if (error instanceof AppError) {
    printError(`affiliate-mirror: ${describeError(error)}`);
    return error.exitCode;
  }
  if (isStatementError(error)) {
    printError(`affiliate-mirror: ${describeError(asKnownError(error))}`);
    return 1;
  }
  const details = error instanceof Error ? (error.stack ?? describeError(error)) : describeError(error);
  printError(`affiliate-mirror: a bug, please report it: ${details}`);
  return 1;
}

function describeProblems(problems: readonly string[]): string {
  if (problems.length === 1) return `affiliate-mirror: ${problems[0]}`;
  return ['affiliate-mirror: several things are wrong:', ...problems.map((problem) => `  ${problem}`)].join(
    '\n',
  );
}
