// The programs of PROGRAMS_FILE in a worker: serves those that the file lists, and reads it again and again. One that
// cannot be served is paused, alone, and tried again.

import { describeError } from '../../base/describe-error.ts';
import { ConfigError, SchemaNewer } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import type { ListedProgram } from '../../config/programs-file.ts';
import { asKnownError } from '../../db/database-errors.ts';
import { makeRecorder, type Recorder } from '../../observe/metrics/recorder.ts';
import type { Serving } from '../../worker/queue/served-program.ts';
import { type Lifetime, openScope } from '../lifetime.ts';
import type { OpenDatabase } from '../open-database.ts';
import { makeProgram, type Program } from '../program.ts';
import type { Condition, WorkingProgram } from './working-program.ts';

/** A changed file is seen within half a minute. */
const READ_EVERY_MS = 15_000;
/** A paused program is tried again after this. */
const TRY_AGAIN_MS = 30_000;

export interface KeeperDeps {
  readonly database: OpenDatabase;
  readonly log: Logger;
  readonly lifetime: Lifetime;
  /** Throws: ConfigError if the file is refused. */
  readonly readFile: () => readonly ListedProgram[];
}

export interface ServeListed {
  /** Serves a program until its lifetime ends. */
  readonly serve: (program: Program, listed: ListedProgram, recorder: Recorder) => Promise<Serving>;
  /** Resolves once no job of the worker runs any more: only then is a program's API closed. */
  readonly workerEnded: Promise<unknown>;
}

export interface ProgramKeeper {
  /** Those of the last file that was accepted, in its order. */
  readonly programs: () => readonly WorkingProgram[];
  readonly isListed: (name: string | null) => boolean;
  /** Why the file, as it is by now, was refused; none if it was not. */
  readonly fileProblems: () => readonly string[];
  /** Ends with the lifetime. Throws: SchemaNewer. */
  run(deps: ServeListed): Promise<void>;
}

interface Kept {
  readonly listed: ListedProgram;
  readonly working: WorkingProgram;
  setCondition(condition: Condition): void;
  /** Ends the serving alone. */
  readonly leaving: AbortController;
}

/** Returns the keeper of these programs, none of them served yet. */
export function makeProgramKeeper(deps: KeeperDeps, first: readonly ListedProgram[]): ProgramKeeper {
  const { log, lifetime, readFile } = deps;
  let kept = first.map((listed) => keep(deps, listed));
  let problems: readonly string[] = [];

  const readAgain = (): readonly ListedProgram[] | null => {
    try {
      const listed = readFile();
      if (problems.length > 0) log.info('programs.file_accepted');
      problems = [];
      return listed;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (error.problems.join() !== problems.join()) {
        log.error({ problems: error.problems }, 'programs.file_refused');
      }
      problems = error.problems;
      return null;
    }
  };

  return {
    programs: () => kept.map(({ working }) => working),
    isListed: (name) => kept.some(({ listed }) => listed.name === name),
    fileProblems: () => problems,
    async run(serveDeps) {
      const { promise: broken, reject } = Promise.withResolvers<never>();
      const serving = new Map<Kept, Promise<void>>();
      const begin = (one: Kept, after: Promise<void> = Promise.resolve()) => {
        const ended = after.then(() => keepServing(one, lifetime, serveDeps)).catch(reject);
        serving.set(one, ended);
        void ended.then(() => serving.delete(one));
      };
      const apply = (found: readonly ListedProgram[]) => {
        const before = kept;
        kept = found.map((one) => before.find((old) => isSame(old.listed, one)) ?? keep(deps, one));
        for (const old of before) {
          if (kept.includes(old)) continue;
          const { name } = old.listed;
          const isListed = kept.some(({ listed }) => listed.name === name);
          log.info({ program: name }, isListed ? 'program.changed_in_file' : 'program.left_file');
          old.leaving.abort();
        }
        for (const one of kept) {
          if (before.includes(one)) continue;
          // A program that changed is served anew once its jobs have stopped.
          const former = before.find((old) => old.listed.name === one.listed.name);
          begin(one, former && serving.get(former));
        }
      };
      const readOn = async () => {
        while (!lifetime.signal.aborted) {
          await sleepOrAbort(READ_EVERY_MS, lifetime.signal);
          const listed = lifetime.signal.aborted ? null : readAgain();
          if (listed !== null) apply(listed);
        }
      };
      for (const one of kept) begin(one);
      await Promise.race([readOn(), broken]);
      await Promise.all(serving.values());
    },
  };
}

function isSame(one: ListedProgram, other: ListedProgram): boolean {
  return one.name === other.name && one.digest === other.digest;
}

function keep({ database, log, lifetime }: KeeperDeps, listed: ListedProgram): Kept {
  const { name, config } = listed;
  let condition: Condition = { state: 'starting' };
  const program = makeProgram(database, { config, log: log.child({ program: name }), lifetime });
  return {
    listed,
    working: { program, recorder: makeRecorder(), condition: () => condition },
    setCondition(changed) {
      condition = changed;
    },
    leaving: new AbortController(),
  };
}

/** Ends when the program leaves the file, and with the lifetime. Throws: SchemaNewer. */
async function keepServing(one: Kept, parent: Lifetime, { serve, workerEnded }: ServeListed): Promise<void> {
  const { program, recorder } = one.working;
  const { log } = program;
  const over = AbortSignal.any([parent.signal, one.leaving.signal]);
  let said: string | null = null;
  while (!over.aborted) {
    const { lifetime, close } = openScope({ ...parent, signal: over });
    let serving: Serving | null = null;
    try {
      serving = await serve({ ...program, lifetime }, one.listed, recorder);
      one.setCondition({ state: 'serving' });
      said = null;
      await Promise.race([serving.ended, untilAborted(over)]);
    } catch (error) {
      if (error instanceof SchemaNewer) throw error;
      if (!over.aborted) {
        const { code, message: reason } = asKnownError(error);
        one.setCondition({ state: 'paused', code, reason });
        if (said !== reason) log.error({ reason: describeError(error) }, 'program.paused');
        said = reason;
      }
    } finally {
      await (parent.signal.aborted ? workerEnded : serving?.stop());
      await close();
    }
    await sleepOrAbort(TRY_AGAIN_MS, over);
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
