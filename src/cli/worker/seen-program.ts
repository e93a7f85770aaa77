// A program of a worker as its metrics and alerts take it, and as its status page does.

import type { ObservedProgram } from '../../observe/observed-program.ts';
import type { ProgramSummaries } from '../../observe/program-summaries.ts';
import type { PageProgram } from '../../web/status-page.ts';
import { readDiskSpace } from '../disk-space.ts';
import { listUpcoming } from './upcoming.ts';
import type { WorkingProgram } from './working-program.ts';

export function observed({ program, recorder, condition }: WorkingProgram): ObservedProgram {
  const { name, db, log, mirrorSchema, rateLimit } = program;
  return {
    name,
    db,
    log,
    mirrorSchema,
    rateLimit,
    recorder,
    readSpace: () => readDiskSpace(program.process),
    state: () => {
      const now = condition();
      return now.state === 'paused' ? { paused: now.code } : now.state;
    },
  };
}

export function paged({ program, condition }: WorkingProgram, summaries: ProgramSummaries): PageProgram {
  const { name, db, mirrorSchema, money, rateLimit } = program;
  return {
    name,
    viewDeps: {
      db,
      mirrorSchema,
      money,
      rateLimit,
      maxAgeSeconds: program.process.staleAfterSeconds,
      readSpace: () => readDiskSpace(program.process),
      findNext: (nowMs) => listUpcoming(program, nowMs),
    },
    condition: condition(),
    readFigures: () => summaries.figuresOf({ name, db, mirrorSchema }),
  };
}
