// The summaries of the listed programs for the status page, which shows a hundred of them without asking the database.
//
// Each is read once when its program appears, and then one after the other for as long as a viewer looks at the list:
// at rest they cost nothing, and the first look shows old ones, with their age, for as long as reading all takes.

import { inProportion } from '../base/memoize.ts';
import { sleepOrAbort } from '../base/sleep.ts';
import { within } from '../base/within.ts';
import type { Database } from '../db/database.ts';
import { type Figure, type Reader, readFigure } from '../reports/figure.ts';
import { type ProgramFigures, readProgramSummary } from '../reports/program-summary.ts';

export interface SummarizedProgram extends Reader {
  /** Its handle stays the same for as long as its description does. */
  readonly name: string | null;
}

export interface ProgramSummaries {
  /** Returns the last figures; null if none were read yet. Counts as a look at the list. */
  figuresOf(program: SummarizedProgram): ProgramFigures | null;
  /** Reads until the signal aborts. Never throws. */
  keep(signal: AbortSignal): Promise<void>;
}

export interface SummaryTimings {
  /** A summary that is looked at is read again after this time. */
  readonly everyMs: number;
  /** For how long after a look. */
  readonly lookedAtForMs: number;
  /** A program that takes longer is left out: a user may have locked one of its tables. */
  readonly patienceMs: number;
  /** How often to ask what is due. */
  readonly restMs: number;
}

export const SUMMARY_TIMINGS: SummaryTimings = {
  everyMs: 15_000,
  lookedAtForMs: 60_000,
  patienceMs: 5000,
  restMs: 500,
};

interface Known {
  readonly figures: Omit<ProgramFigures, 'ageSeconds'>;
  /** In milliseconds of performance.now(). */
  readonly readAtMs: number | null;
  readonly triedAtMs: number;
}

/** `programs` returns those that the worker serves now, or would if they were not paused. */
export function makeProgramSummaries(
  programs: () => readonly SummarizedProgram[],
  { maxAgeSeconds }: { readonly maxAgeSeconds: number },
  timings: SummaryTimings = SUMMARY_TIMINGS,
): ProgramSummaries {
  const known = new WeakMap<Database, Known>();
  const reading = new Map<Database, Promise<void>>();
  const sums = new WeakMap<Database, typeof readFigure>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  async function read({ db, mirrorSchema, name }: SummarizedProgram): Promise<void> {
    const readSums = sums.get(db) ?? makeReadSums();
    sums.set(db, readSums);
    const options = { maxAgeSeconds, program: name, readSums };
    const summary = await readProgramSummary({ db, mirrorSchema }, options);
    const atMs = performance.now();
    known.set(db, { figures: { summary, error: null }, readAtMs: atMs, triedAtMs: atMs });
  }

  async function readInTime(program: SummarizedProgram): Promise<void> {
    const { db } = program;
    const late = read(program).finally(() => reading.delete(db));
    reading.set(db, late);
    try {
      await within(timings.patienceMs, late);
    } catch (error) {
      // One that answers too late is read all the same; its error is known by then.
      late.catch(() => {});
      const { figures, readAtMs = null } = known.get(db) ?? {};
      const summary = figures?.summary ?? null;
      known.set(db, { figures: { summary, error }, readAtMs, triedAtMs: performance.now() });
    }
  }

  /** Returns the program that was not read for the longest time; undefined if none is due. */
  function findDue(): SummarizedProgram | undefined {
    const nowMs = performance.now();
    const isLookedAt = nowMs - lookedAtMs < timings.lookedAtForMs;
    const triedAt = ({ db }: SummarizedProgram) => known.get(db)?.triedAtMs ?? Number.NEGATIVE_INFINITY;
    const beforeMs = isLookedAt ? nowMs - timings.everyMs : Number.NEGATIVE_INFINITY;
    return programs()
      .filter((program) => !reading.has(program.db) && triedAt(program) <= beforeMs)
      .toSorted((a, b) => triedAt(a) - triedAt(b))[0];
  }

  return {
    figuresOf({ db }) {
      lookedAtMs = performance.now();
      const found = known.get(db);
      if (found === undefined) return null;
      const { figures, readAtMs } = found;
      return { ...figures, ageSeconds: readAtMs === null ? null : (lookedAtMs - readAtMs) / 1000 };
    },
    async keep(signal) {
      while (!signal.aborted) {
        const due = findDue();
        if (due === undefined) await sleepOrAbort(timings.restMs, signal);
        else await readInTime(due);
      }
      await Promise.allSettled(reading.values());
    },
  };
}

/** Returns a function that reads the sums of commissions again after a hundred times as long as it took. */
function makeReadSums(): typeof readFigure {
  let last: { readonly figure: Figure<unknown>; readonly freshUntilMs: number } | null = null;
  return async <Row>(...asked: Parameters<typeof readFigure<Row>>) => {
    const beganMs = performance.now();
    if (last === null || last.freshUntilMs <= beganMs) {
      const figure = await readFigure(...asked);
      const endedMs = performance.now();
      last = { figure, freshUntilMs: endedMs + inProportion(endedMs - beganMs) };
    }
    return last.figure as Figure<Row>;
  };
}
