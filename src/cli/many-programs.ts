// Commands of many programs: one pool of connections for all, and the work goes on past a program that fails.

import pMap from 'p-map';
import { z } from 'zod';
import { describeError, errorCode } from '../base/describe-error.ts';
import { type Logger, makeLogger } from '../base/log.ts';
import type { Config, ProgramConfig } from '../config/config.ts';
import { asDatabaseError, asKnownError, isStatementError } from '../db/database-errors.ts';
import { text } from '../reports/fields.ts';
import type { Cli } from './cli.ts';
import type { Configs } from './configuration.ts';
import type { ExitCode } from './exit-code.ts';
import { type Lifetime, openScope, Stopped } from './lifetime.ts';
import { openDatabase } from './open-database.ts';
import { print, printError, printJson } from './output/print.ts';
import { makeProgram, nameProgram, type Program, startOf } from './program.ts';
import { reportError } from './report-error.ts';

type Named = Pick<ProgramConfig, 'name'>;

/** Returns whether the programs are those of PROGRAMS_FILE. */
export function areListed(programs: readonly Named[]): boolean {
  return programs.every(({ name }) => name !== null);
}

/** Returns the programs on one pool. Throws: what `openDatabase` throws. */
export async function openPrograms(
  cli: Cli,
  lifetime: Lifetime,
  {
    configs,
    log = makeLogger(configs[0].process.logLevel),
    endsAtOnce,
  }: { configs: Configs<Config>; log?: Logger; endsAtOnce?: boolean },
): Promise<readonly [Program, ...Program[]]> {
  const isForMany = areListed(configs.map(({ program }) => program));
  const { pool, poolOfMany = pool } = cli.opener.connections;
  const connections = { ...cli.opener.connections, pool: isForMany ? poolOfMany : pool };
  const opener = { ...cli.opener, connections };
  const database = await openDatabase({ log, lifetime }, configs[0].process, opener, {
    endsAtOnce,
    isForMany,
  });
  const [first, ...others] = configs;
  const make = (config: Config) => makeProgram(database, { config, log: nameProgram(log, config), lifetime });
  return [make(first), ...others.map(make)];
}

/** Does the work in a part of the lifetime, which is closed after it. */
export async function inScope<T>(parent: Lifetime, work: (lifetime: Lifetime) => Promise<T>): Promise<T> {
  const scope = openScope(parent);
  try {
    return await work(scope.lifetime);
  } finally {
    await scope.close();
  }
}

export interface Worked<Document> {
  readonly exitCode: ExitCode;
  readonly document: Document;
}

export interface WorkedOn<Of extends Named, Done> {
  readonly program: Of;
  /** Null if it failed, or the command was stopped before it. */
  readonly worked: Done | null;
  /** Null if it succeeded. */
  readonly failure: Failure | null;
}

export const failure = z.object({
  code: text('stable code of the error').nullable(),
  message: text('what happened, and what to do'),
});

export type Failure = z.infer<typeof failure>;

/**
 * Works on each program, `concurrency` at a time, and returns what became of them, in their order, with the most severe
 * exit code. The error of a listed program is printed with its name. A stop begins no further program.
 *
 * Throws: the error of a program that the environment describes.
 */
export async function workOnEach<Of extends Named, Done extends Worked<unknown>>(
  programs: readonly Of[],
  { signal, concurrency = 1 }: { signal: AbortSignal; concurrency?: number },
  work: (program: Of) => Promise<Done>,
): Promise<{ exitCode: ExitCode; results: readonly WorkedOn<Of, Done>[] }> {
  const exitCodes: ExitCode[] = [];
  const attempt = async (program: Of): Promise<WorkedOn<Of, Done>> => {
    if (program.name === null) return { program, worked: await work(program), failure: null };
    if (signal.aborted) return { program, worked: null, failure: null };
    try {
      return { program, worked: await work(program), failure: null };
    } catch (thrown) {
      // After a stop, the stop is why it failed.
      const error = signal.aborted && !(thrown instanceof Stopped) ? signal.reason : thrown;
      exitCodes.push(reportError(error, program.name));
      return { program, worked: null, failure: describeFailure(error) };
    }
  };
  const results = await pMap(programs, attempt, { concurrency });
  const left = results.filter(({ worked, failure }) => worked === null && failure === null).length;
  if (left > 0) printError(`affiliate-mirror: stopped before ${left} of ${programs.length} programs`);
  if (signal.aborted && left > 0) exitCodes.push(reportError(signal.reason));
  exitCodes.push(...results.flatMap(({ worked }) => (worked === null ? [] : [worked.exitCode])));
  return { exitCode: worstOf(exitCodes), results };
}

interface Showing<Of, Document> {
  readonly signal: AbortSignal;
  readonly concurrency?: number;
  readonly isJson: boolean;
  /** The first line of a listed program begins with its name. */
  readonly describe: (document: Document, program: Of) => readonly string[];
}

/** Prints what the work returns: the lines of each, or with `isJson` one document. */
export async function showEach<Of extends Named, Document extends object>(
  programs: readonly Of[],
  { isJson, describe, ...how }: Showing<Of, Document>,
  work: (program: Of) => Promise<Worked<Document>>,
): Promise<ExitCode> {
  const { exitCode, results } = await workOnEach(programs, how, async (program) => {
    const worked = await work(program);
    const [first, ...others] = isJson ? [] : describe(worked.document, program);
    if (first !== undefined) print(`${startOf(program)}${first}`);
    for (const line of others) print(line);
    return worked;
  });
  if (isJson) printJson(areListed(programs) ? documentOf(results) : results[0]?.worked?.document);
  return exitCode;
}

/** Returns the document of listed programs, as `ofPrograms` describes it. */
export function documentOf(results: readonly WorkedOn<Named, Worked<object>>[]): { programs: object[] } {
  return {
    programs: results.flatMap(({ program: { name: program }, worked, failure: error }) => {
      if (worked !== null) return [{ program, ...worked.document }];
      return error === null ? [] : [{ program, error }];
    }),
  };
}

/** Returns the shape of the document of listed programs, each of which has the shape of one. */
export function ofPrograms(document: z.ZodObject): z.ZodType {
  const program = text('its name in PROGRAMS_FILE');
  return z
    .object({
      programs: z
        .array(
          z.union([
            z.object({ program, ...document.shape }),
            z.object({ program, error: failure.describe('why it failed') }),
          ]),
        )
        .describe('in the order of the file; after a stop, those that were begun'),
    })
    .meta({ title: `${document.meta()?.title}, with PROGRAMS_FILE` });
}

function describeFailure(thrown: unknown): Failure {
  const error = asDatabaseError(thrown);
  const known = isStatementError(error) ? asKnownError(error) : error;
  return { code: errorCode(known) || null, message: describeError(known) };
}

/** From the mildest to the most severe. */
const SEVERITY: readonly ExitCode[] = [0, 4, 5, 3, 2, 1, 143, 130];

/** Pure. Returns 0 without any. */
export function worstOf(exitCodes: readonly ExitCode[]): ExitCode {
  return SEVERITY[Math.max(0, ...exitCodes.map((exitCode) => SEVERITY.indexOf(exitCode)))] ?? 0;
}
