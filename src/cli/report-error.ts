// How an error looks to the person at the terminal: what is wrong and how to fix it, on stderr, without a stack.
// Only an error that nobody foresaw shows one, because it is a bug.

import { CommanderError } from 'commander';
import { DatabaseError } from 'pg';
import { asDatabaseError, isShortOfConnections } from '../db/as-database-error.ts';
import { describeError } from '../describe-error.ts';
import { AppError, ConfigError } from '../errors.ts';
import type { ExitCode } from './exit-code.ts';
import { Stopped } from './lifetime.ts';
import { connectionsOf, isDatabaseCommand } from './open-database.ts';
import { printError } from './output/print.ts';

/**
 * Returns the exit code of the error, after saying on stderr what happened. The command's name is for those
 * that have to give it more connections.
 */
export function reportError(thrown: unknown, command: string | undefined): ExitCode {
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
    printError(`affiliate-mirror: ${describeError(error)}${describeNeed(error, command)}`);
    return error.exitCode;
  }
  if (error instanceof DatabaseError) {
    printError(
      `affiliate-mirror: the database refused a statement: ${error.message} (SQLSTATE ${error.code})`,
    );
    return 1;
  }
  const details = error instanceof Error ? (error.stack ?? describeError(error)) : describeError(error);
  printError(`affiliate-mirror: a bug, please report it: ${details}`);
  return 1;
}

function describeNeed(error: AppError, command: string | undefined): string {
  if (!isShortOfConnections(error.cause) || !isDatabaseCommand(command)) return '';
  const most = connectionsOf(command, true);
  const withRedis = connectionsOf(command, false);
  const orLess = withRedis === most ? '' : `, or ${withRedis} with Redis`;
  return ` (affiliate-mirror ${command} holds up to ${most} connections${orLess})`;
}

function describeProblems(problems: readonly string[]): string {
  if (problems.length === 1) return `affiliate-mirror: ${problems[0]}`;
  return ['affiliate-mirror: several things are wrong:', ...problems.map((problem) => `  ${problem}`)].join(
    '\n',
  );
}
